import type { DayVerdict } from './vocabulary.ts';
import type { Percent, WireDate, WireInstant } from './wire.ts';

/** A fact over the runs of one day. */
export interface FactOfDay {
  readonly min: number;
  readonly median: number;
  readonly max: number;
  readonly last: number;
}

/** One UTC day. */
export interface SeriesDay {
  readonly date: WireDate;
  /** False = before the oldest kept daily figure. */
  readonly recorded: boolean;
  /** Of its scheduled runs, by `target`. */
  readonly verdict: DayVerdict;
  /** Scheduled success + failed. */
  readonly runs: number;
  readonly success: number;
  readonly failed: number;
  /** replaced, deleted, unobserved. */
  readonly other: number;
  readonly manual: number;
  readonly successRate: Percent | null;
  readonly avgDurationSeconds: number | null;
  readonly p50DurationSeconds: number | null;
  readonly p95DurationSeconds: number | null;
  readonly maxDurationSeconds: number | null;
  readonly alerts: number;
  readonly slots: {
    readonly late: number;
    readonly missed: number;
    /** skippedForbid + skippedDeadline. */
    readonly skipped: number;
    readonly suspended: number;
    /** unobserved + indeterminate. */
    readonly unseen: number;
  };
  /** Of the facts that were asked for, those that its runs told. */
  readonly facts: Readonly<Record<string, FactOfDay>>;
}

/** GET /api/v1/series, GET /api/v1/cronjobs/{namespace}/{name}/series */
export interface Series {
  /** Oldest first, today last. */
  readonly items: readonly SeriesDay[];
  /** What the monitor that leads promises of the rate; null = nothing, and for the fleet. */
  readonly target: Percent | null;
  readonly figuresFrom: WireInstant | null;
  readonly approximate: boolean;
}
