import type { Instant } from '../instant.ts';

/** A span in which the service did not watch the cluster. */
export interface Gap {
  readonly fromAt: Instant;
  readonly toAt: Instant;
}

/** What a CronJob still shows of the runs that were not seen, read from a list that began after the gap. */
export interface ClusterTraces {
  /** `status.lastScheduleTime`: the newest slot that was started. */
  readonly lastScheduleAt: Instant | undefined;
  /** `status.lastSuccessfulTime`: the end of the newest success. */
  readonly lastSuccessAt: Instant | undefined;
  /** That success is the end of no run that we know of, and of none that was going on when the watch ended. */
  readonly successUnexplained: boolean;
  /** Nothing that ran can have been cleared away: no Replace, no time to live, fewer ended Jobs than the history keeps. */
  readonly keepsAll: boolean;
}

/** What the cluster tells of a slot that has no Job any more. */
type SlotTrace =
  /** Nothing was ever started for it. */
  | 'neverStarted'
  /** It was started, and its Job is gone. */
  | 'started'
  /** It may have been started. */
  | 'unknown';

/**
 * Judges the absence of a Job by what is left: only the newest slot is ever started, and `lastScheduleTime` names it. Without traces
 * (the CronJob is gone) nothing is known.
 */
export function traceOf(slotAt: Instant, traces: ClusterTraces | undefined): SlotTrace {
  if (!traces) return 'unknown';
  const { lastScheduleAt } = traces;
  if (lastScheduleAt === undefined || slotAt > lastScheduleAt) return 'neverStarted';
  if (slotAt === lastScheduleAt) return 'started';
  return traces.keepsAll ? 'neverStarted' : 'unknown';
}

/** The end of the run of a slot that was started and whose Job is gone, if it ended well; undefined: unknown how it ended. */
export function inferredEndOf(slotAt: Instant, traces: ClusterTraces | undefined): Instant | undefined {
  const endAt = traces?.successUnexplained ? traces.lastSuccessAt : undefined;
  return endAt !== undefined && endAt >= slotAt ? endAt : undefined;
}
