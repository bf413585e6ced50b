import {
  type CronJobFacts,
  findNearest,
  isObject,
  type NamespaceFacts,
  ownName,
  refText,
} from '@cronjob-monitor/shared/domain';
import { createTranslator } from '@cronjob-monitor/shared/kube';
import type { Finding, Subject } from './findings.ts';
import type { SourceDocument } from './read-documents.ts';

/** One of our two kinds as a file has it. */
export interface WrittenResource {
  readonly subject: Subject;
  /** Empty for an AlertChannel. */
  readonly namespace: string;
  readonly name: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** What files hold of what we know, and what is wrong with the outside of it. */
export interface Resources {
  readonly monitors: readonly WrittenResource[];
  readonly channels: readonly WrittenResource[];
  readonly cronJobs: readonly CronJobFacts[];
  readonly namespaces: readonly NamespaceFacts[];
  readonly findings: readonly Finding[];
  /** Documents of our group whose kind there is not. */
  readonly misnamed: number;
}

const ourGroup = ownName('v1alpha1').replace(/[^/]+$/, '');
/** Of cronjob-guardian's resources. */
export const guardianGroup = 'guardian.illenium.net/';
const objectName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const ourKinds = ['CronJobMonitor', 'AlertChannel'];

/** Sorts documents by their kind. Kinds of other groups, but CronJobs and Namespaces, are passed over. */
export function sortDocuments(documents: readonly SourceDocument[], usualNamespace: string): Resources {
  const monitors: WrittenResource[] = [];
  const channels: WrittenResource[] = [];
  const cronJobs: CronJobFacts[] = [];
  const namespaces: NamespaceFacts[] = [];
  const findings: Finding[] = [];
  let misnamed = 0;
  const translator = createTranslator();
  const seen = new Map<string, string>();
  for (const { place, object } of documents) {
    const { kind, apiVersion } = object;
    if (kind === 'CronJobMonitor' || kind === 'AlertChannel') {
      const written = readOutside(place, kind, object, usualNamespace);
      const tell = (path: string, message: string): void =>
        void findings.push({ subject: written.subject, level: 'error', code: 'schema', path, message });
      if (apiVersion !== ownName('v1alpha1')) tell('apiVersion', versionProblem(apiVersion));
      for (const [path, message] of nameProblems(written)) tell(path, message);
      const key = `${kind} ${refText(written)}`;
      const before = seen.get(key);
      if (before !== undefined) tell('metadata.name', `is the name of ${before} too`);
      else seen.set(key, place);
      (kind === 'CronJobMonitor' ? monitors : channels).push(written);
    } else if (typeof apiVersion === 'string' && apiVersion.startsWith(ourGroup)) {
      misnamed++;
      findings.push(unknownKind(place, object));
    } else if (kind === 'CronJob') {
      const facts = translator.cronJob(withIdentity(object, usualNamespace));
      if (facts) cronJobs.push(facts);
    } else if (kind === 'Namespace') {
      const facts = translator.namespace(withIdentity(object, ''));
      if (facts) namespaces.push(facts);
    }
  }
  return { monitors, channels, cronJobs, namespaces, findings, misnamed };
}

function unknownKind(place: string, { kind, metadata }: SourceDocument['object']): Finding {
  const given = typeof kind === 'string' ? kind : JSON.stringify(kind ?? null);
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const near = findNearest(given, ourKinds);
  const message = `${given} is no kind of cronjob-monitor.io; ${near === undefined ? `allowed: ${ourKinds.join(', ')}` : `did you mean ${near}?`}`;
  return {
    subject: { place, title: `${given} ${name}`.trim() },
    level: 'error',
    code: 'schema',
    path: 'kind',
    message,
  };
}

function readOutside(
  place: string,
  kind: 'CronJobMonitor' | 'AlertChannel',
  object: SourceDocument['object'],
  usualNamespace: string,
): WrittenResource {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const text = (key: string): string => (typeof metadata[key] === 'string' ? metadata[key] : '');
  const name = text('name');
  const namespace = kind === 'AlertChannel' ? '' : text('namespace') || usualNamespace;
  const title = kind === 'AlertChannel' ? name : `${namespace}/${name}`;
  return { subject: { place, title: `${kind} ${title}` }, namespace, name, object };
}

function versionProblem(given: unknown): string {
  if (typeof given === 'string' && given.startsWith(guardianGroup)) {
    return `must be ${ownName('v1alpha1')}, is ${given}, of cronjob-guardian: cronjob-monitor convert makes ours of it`;
  }
  return `must be ${ownName('v1alpha1')}, is ${JSON.stringify(given ?? null)}`;
}

function nameProblems({ name, namespace }: WrittenResource): readonly (readonly [string, string])[] {
  const problems: (readonly [string, string])[] = [];
  if (name === '') problems.push(['metadata.name', 'is required']);
  else if (!objectName.test(name) || name.length > 253) {
    problems.push(['metadata.name', `must be small letters, digits, hyphens and dots, is ${JSON.stringify(name)}`]);
  }
  if (namespace !== '' && (!objectName.test(namespace) || namespace.length > 63)) {
    const rule = 'must be small letters, digits and hyphens, at most 63';
    problems.push(['metadata.namespace', `${rule}, is ${JSON.stringify(namespace)}`]);
  }
  return problems;
}

/** What no cluster has seen has no UID yet: its name stands for it. */
function withIdentity(object: SourceDocument['object'], usualNamespace: string): Record<string, unknown> {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : usualNamespace;
  const uid = `${namespace}/${String(metadata['name'])}`;
  return { ...object, metadata: { ...metadata, ...(namespace !== '' && { namespace }), uid } };
}
