import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const chart = resolve(import.meta.dirname, '../../charts/cronjob-monitor');

/** Where every test installs: release and namespace. */
export const release = 'cronjob-monitor';
export const namespace = 'cronjob-monitor';

/** An object as the chart renders it. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- objects of any kind, looked into by tests
  readonly [field: string]: any;
}

interface HelmAnswer {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs Helm on the chart with these values. */
export function runHelm(helm: string, command: 'lint' | 'template', values: object): HelmAnswer {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-chart-'));
  try {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, JSON.stringify(values)); // JSON is YAML
    const names = command === 'template' ? [release, chart] : [chart];
    const args = [command, ...names, '--namespace', namespace, '--values', file, '--kube-version', '1.35.0'];
    const { status, stdout, stderr } = spawnSync(helm, args, { encoding: 'utf8', maxBuffer: 2 ** 24 });
    return { status, output: stdout, errors: stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The objects of the chart with these values; throws what Helm says when it refuses them. */
export function render(helm: string, values: object): Rendered[] {
  const { status, output, errors } = runHelm(helm, 'template', values);
  if (status !== 0) throw new Error(errors);
  return parseObjects(output);
}

/** The documents of a file of manifests. */
export function parseObjects(text: string): Rendered[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    const object: unknown = document.toJS();
    return object === null ? [] : [object as Rendered];
  });
}

export function ofKind(objects: readonly Rendered[], kind: string): Rendered[] {
  return objects.filter((object) => object.kind === kind);
}

/** The one object of this kind and name; throws when there is none. */
export function theOne(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = ofKind(objects, kind).filter((object) => name === undefined || object.metadata.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} of ${kind} ${name ?? ''}`);
  return found[0];
}
