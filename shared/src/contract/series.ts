import {
  bool,
  count,
  date,
  instant,
  listOf,
  mapOf,
  nullable,
  number,
  object,
  type Of,
  percent,
  seconds,
  words,
} from './shape/shape.ts';
import { dayVerdicts } from './vocabulary.ts';

/** A fact over the runs of one day. */
export const FactOfDay = object({ min: number, median: number, max: number, last: number });
export type FactOfDay = Of<typeof FactOfDay>;

/** One UTC day. */
export const SeriesDay = object({
  date,
  /** False = before the oldest kept daily figure. */
  recorded: bool,
  /** Of its scheduled runs, by `target`. */
  verdict: words(dayVerdicts),
  /** Scheduled success + failed. */
  runs: count,
  success: count,
  failed: count,
  /** replaced, deleted, unobserved. */
  other: count,
  manual: count,
  successRate: nullable(percent),
  avgDurationSeconds: nullable(seconds),
  p50DurationSeconds: nullable(seconds),
  p95DurationSeconds: nullable(seconds),
  maxDurationSeconds: nullable(seconds),
  alerts: count,
  slots: object({
    late: count,
    missed: count,
    /** skippedForbid + skippedDeadline. */
    skipped: count,
    suspended: count,
    /** unobserved + indeterminate. */
    unseen: count,
  }),
  /** Of the facts that were asked for, those that its runs told. */
  facts: mapOf(FactOfDay),
});
export type SeriesDay = Of<typeof SeriesDay>;

/** GET /api/v1/series, GET /api/v1/cronjobs/{namespace}/{name}/series */
export const Series = object('Series', {
  /** Oldest first, today last. */
  items: listOf(SeriesDay),
  /** What the monitor that leads promises of the rate; null = nothing, and for the fleet. */
  target: nullable(percent),
  figuresFrom: nullable(instant),
  approximate: bool,
});
export type Series = Of<typeof Series>;
