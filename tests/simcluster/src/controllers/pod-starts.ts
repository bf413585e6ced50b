import type { Job, Pod } from './batch-objects.ts';
import { startAfter, type Failures } from './job-backoff.ts';
import { countsAsFailed, failureCountOf, finishedAt, indexOf, isActive, matchPolicy } from './job-pods.ts';

/** A pod to be made. */
export interface PodStart {
  readonly index?: number;
  /** How often the pods of its index failed, when each index has a limit of its own. */
  readonly failures?: number;
}

/** Pods to be made now, and instants at which it is worth to look again. */
interface PodStarts {
  readonly starts: readonly PodStart[];
  readonly notBefore: readonly number[];
}

interface Missing {
  readonly job: Job;
  readonly pods: readonly Pod[];
  /** How many pods are wanted and not there. */
  readonly missing: number;
}

interface DecidedIndexes {
  readonly succeeded: ReadonlySet<number>;
  readonly failed: ReadonlySet<number>;
}

interface StartTimes {
  readonly now: number;
  /** Before which no pod of the Job may start. */
  readonly nextStartAt: number;
  readonly backOffMs: number;
}

/** Which pods a Job gets. After failures pods wait, with a limit per index each index by itself. */
export function podStarts(
  { job, pods, missing }: Missing,
  indexes: DecidedIndexes,
  { now, nextStartAt, backOffMs }: StartTimes,
): PodStarts {
  const { completions = 0, backoffLimitPerIndex, completionMode } = job.spec;
  if (completionMode !== 'Indexed') {
    if (nextStartAt > now) return { starts: [], notBefore: [nextStartAt] };
    return { starts: Array.from({ length: missing }, () => ({})), notBefore: [] };
  }
  const busy = new Set(pods.filter(isActive).map(indexOf));
  const starts: PodStart[] = [];
  const notBefore: number[] = [];
  for (let index = 0; index < completions && starts.length < missing; index++) {
    if (busy.has(index) || indexes.succeeded.has(index) || indexes.failed.has(index)) continue;
    const failures = failuresOf(index, job, pods);
    const startAt = backoffLimitPerIndex === undefined ? nextStartAt : startAfter(failures, backOffMs);
    if (startAt > now) notBefore.push(startAt);
    else starts.push({ index, ...(backoffLimitPerIndex === undefined ? {} : { failures: failures.count }) });
  }
  return { starts, notBefore };
}

function failuresOf(index: number, job: Job, pods: readonly Pod[]): Failures {
  const failed = pods.filter((pod) => indexOf(pod) === index && countsAsFailed(pod, job));
  const counts = failed.map((pod) => failureCountOf(pod) + (matchPolicy(job, pod)?.action === 'Ignore' ? 0 : 1));
  return { count: Math.max(0, ...counts), lastAt: Math.max(0, ...failed.map(finishedAt)) };
}
