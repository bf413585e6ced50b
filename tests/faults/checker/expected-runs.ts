import type { ReadJob } from './job-reader.ts';

/** What the maker of a CronJob knows of its runs beyond their Jobs. */
export interface Script {
  readonly replaces?: boolean;
  /** All that may be recorded of a failed run: more than one only where the cluster itself leaves it open. */
  readonly exitCodes?: readonly (number | undefined)[];
  readonly reasons?: readonly (string | undefined)[];
}

/** A time in which no process of a service watched the cluster. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

type Status = 'success' | 'failed' | 'replaced' | 'deleted' | 'unobserved';

/** What the rows must say of one run: each list holds all that is right, and undefined in place of a list that cannot be known. */
export interface ExpectedRun {
  readonly job: ReadJob;
  readonly statuses: readonly Status[];
  readonly mayBeMissing: boolean;
  readonly trigger: 'scheduled' | 'manual' | 'unmatched';
  readonly jobReasons: readonly (string | undefined)[];
  readonly exitCodes: readonly (number | undefined)[] | undefined;
  readonly reasons: readonly (string | undefined)[] | undefined;
  readonly failedIndexes: readonly (string | undefined)[] | undefined;
  readonly ends: readonly (number | undefined)[] | undefined;
}

const none = [undefined];
/** A Job of a newer slot within this time of its end replaced it. */
const replacedWithinMs = 60_000;
/** What was told a moment before a gap may not have been heard. */
const slackMs = 2_000;

/**
 * From the Jobs that were read to the runs that must be recorded: those that ended, and those that were taken away before. What left
 * the cluster in a gap was not seen: only of that something may be missing.
 */
export function expectedRuns(
  jobs: readonly ReadJob[],
  scriptOf: (job: ReadJob) => Script,
  gaps: readonly Gap[] = [],
): ExpectedRun[] {
  const inGap = (at: number | undefined): boolean =>
    at !== undefined && gaps.some(({ from, to }) => at >= from - slackMs && at <= to + slackMs);
  return jobs.flatMap((job) => {
    if (!job.end && job.goneAt === undefined) return [];
    const script = scriptOf(job);
    const status = job.end?.status ?? (isReplaced(job, script, jobs) ? 'replaced' : 'deleted');
    const wentUnseen = inGap(job.goneAt);
    const failed = status === 'failed';
    const untold = failed && (wentUnseen || !job.played || inGap(job.podGoneAt));
    return {
      job,
      statuses: wentUnseen ? [status, 'unobserved', 'deleted'] : [status],
      mayBeMissing: wentUnseen,
      trigger: job.slotAt !== undefined ? 'scheduled' : job.manual ? 'manual' : 'unmatched',
      jobReasons: wentUnseen ? [job.end?.reason, undefined] : [job.end?.reason],
      exitCodes: untold ? undefined : failed ? (script.exitCodes ?? none) : none,
      reasons: untold ? undefined : failed ? (script.reasons ?? none) : none,
      // Where the Job tells none its pods may.
      failedIndexes: failed && job.indexed && job.failedIndexes === undefined ? undefined : [job.failedIndexes],
      ends: job.end && (wentUnseen ? [job.end.at, undefined] : [job.end.at]),
    };
  });
}

function isReplaced(job: ReadJob, { replaces }: Script, jobs: readonly ReadJob[]): boolean {
  const { goneAt = 0, slotAt = 0 } = job;
  return (
    replaces === true &&
    jobs.some(
      (other) =>
        other.cronJobUid === job.cronJobUid &&
        (other.slotAt ?? 0) > slotAt &&
        Math.abs(other.createdAt - goneAt) <= replacedWithinMs,
    )
  );
}
