import type { Job, Pod } from './batch-objects.ts';
import { countsAsFailed, finishedAt, matchPolicy } from './job-pods.ts';

const longestDelayMs = 600_000;

/** The failures in a row of one Job, remembered beyond its pods. */
interface FailureRow {
  failures: number;
  lastFailureAt: number;
  readonly seen: Set<string>;
}

/** Decides when a Job may start its next pod: some time after a failure, twice as long each time, from the start after a success. */
export class JobBackoff {
  readonly #firstDelayMs: number;
  readonly #rows = new Map<string, FailureRow>();

  constructor(firstDelayMs: number) {
    this.#firstDelayMs = firstDelayMs;
  }

  /** Takes note of pods that ended since the last look. */
  notice(job: Job, pods: readonly Pod[]): void {
    const row = this.#rows.get(job.metadata.uid) ?? { failures: 0, lastFailureAt: 0, seen: new Set<string>() };
    const ended = pods
      .filter((pod) => !row.seen.has(pod.metadata.uid))
      .filter((pod) => pod.status.phase === 'Succeeded' || countsAsFailed(pod, job))
      .toSorted((a, b) => finishedAt(a) - finishedAt(b));
    for (const pod of ended) {
      row.seen.add(pod.metadata.uid);
      if (pod.status.phase === 'Succeeded') row.failures = 0;
      else if (matchPolicy(job, pod)?.action !== 'Ignore') {
        row.failures++;
        row.lastFailureAt = finishedAt(pod);
      }
    }
    if (ended.length > 0) this.#rows.set(job.metadata.uid, row);
  }

  /** The instant before which no pod may start; 0 when any time will do. */
  nextStartAt(job: Job): number {
    const row = this.#rows.get(job.metadata.uid);
    return row === undefined ? 0 : startAfter({ count: row.failures, lastAt: row.lastFailureAt }, this.#firstDelayMs);
  }

  forget(uid: string): void {
    this.#rows.delete(uid);
  }
}

/** Failures in a row, and when the last of them was. */
export interface Failures {
  readonly count: number;
  readonly lastAt: number;
}

/** When a pod may start that follows so many failures. */
export function startAfter({ count, lastAt }: Failures, firstDelayMs: number): number {
  if (count === 0) return 0;
  return lastAt + Math.min(firstDelayMs * 2 ** Math.min(count - 1, 10), longestDelayMs);
}
