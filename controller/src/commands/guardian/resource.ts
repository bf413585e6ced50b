import { decodeChannelSpec, decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { usualDefaults } from '../judge-resources.ts';
import { type SourceDocument } from '../read-documents.ts';
import { convertChannel } from './channel.ts';
import { convertMonitor } from './monitor.ts';
import { Block, type Remark } from './remark.ts';
import { isObject, type Json } from '@cronjob-monitor/shared/domain';

/** One of our resources, made of one of theirs. */
export interface Converted {
  readonly object: Json;
  readonly remarks: readonly Remark[];
}

const group = 'guardian.illenium.net/';

/** Whether a document is one of cronjob-guardian's resources. */
export function isGuardian({ object }: SourceDocument): boolean {
  return typeof object['apiVersion'] === 'string' && object['apiVersion'].startsWith(group);
}

/** Undefined for a kind that has no counterpart. The result is read as the service reads it, and what is wrong with it is told too. */
export function convertResource({ object }: SourceDocument): Converted | undefined {
  const { kind } = object;
  const remarks: Remark[] = [];
  const spec = new Block('spec', object['spec'], remarks);
  const metadata = convertMetadata(object['metadata']);
  const outside = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind, metadata };
  if (kind === 'CronJobMonitor') {
    const usable = leaveOut({ ...outside, spec: convertMonitor(spec) }, (converted) => {
      const decoded = decodeMonitorSpec(converted, usualDefaults);
      return decoded.ok ? decoded.problems : [{ path: 'spec', message: decoded.undecodable }];
    });
    return { object: usable.object, remarks: [...remarks, ...usable.remarks] };
  }
  if (kind !== 'AlertChannel') return undefined;
  const usable = leaveOut(
    { ...outside, spec: convertChannel(spec) },
    (converted) => decodeChannelSpec(converted).problems,
  );
  return { object: usable.object, remarks: [...remarks, ...usable.remarks] };
}

/** Name, namespace, labels and annotations of a person; nothing that a cluster or a tool wrote. */
function convertMetadata(given: unknown): Json {
  const { name, namespace, labels, annotations } = isObject(given) ? given : {};
  const theirs = isObject(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/')))
    : {};
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(isObject(labels) && { labels }),
    ...(Object.keys(theirs).length > 0 && { annotations: theirs }),
  };
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Each round leaves one field out: no resource has so many that cannot be used. */
const mostRounds = 1_000;

/**
 * The resource without the fields that the service could not use, and what was left out of it. A required field that is not there cannot be
 * left out, and without a part of its selector a monitor would reach more than was meant: both are named as still to do.
 */
function leaveOut(
  object: Json,
  problemsOf: (object: Json) => readonly Problem[],
): { readonly object: Json; readonly remarks: readonly Remark[] } {
  const remarks: Remark[] = [];
  let left = object;
  for (let round = 0; round < mostRounds; round++) {
    const problems = problemsOf(left);
    // The last one first: places in a list before it keep their numbers.
    const next = problems.findLast(
      ({ path }) => path !== 'spec' && !path.startsWith('spec.selector') && valueAt(left, stepsOf(path)) !== undefined,
    );
    if (!next) {
      const rest = problems.map(({ path, message }): Remark => ({ kind: 'to do', path, message }));
      return { object: left, remarks: [...remarks.reverse(), ...rest] };
    }
    remarks.push({ kind: 'left out', path: next.path, message: `cannot be used: ${next.message}` });
    left = without(left, stepsOf(next.path)) as Json; // an object stays one
  }
  return { object: left, remarks };
}

type Step = string | number;

/** `spec.a[0].b`, and `spec.headers[X-Team]`, as steps. */
function stepsOf(path: string): Step[] {
  return [...path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(([, name, inside = '']) => {
    if (name !== undefined) return name;
    return /^\d+$/.test(inside) ? Number(inside) : inside.replaceAll('"', '');
  });
}

function valueAt(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return value;
  if (Array.isArray(value)) return valueAt((value as readonly unknown[])[Number(step)], rest);
  return isObject(value) ? valueAt(value[step], rest) : undefined;
}

/** A list or a block that is empty without it goes too. */
function without(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    const kept = (value as readonly unknown[])
      .map((item, index) => (index === step ? without(item, rest) : item))
      .filter((item) => item !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if (!isObject(value)) return value;
  const inner = without(value[step], rest);
  const { [step]: _left, ...others } = value;
  const kept = inner === undefined ? others : { ...others, [step]: inner };
  return Object.keys(kept).length === 0 ? undefined : kept;
}
