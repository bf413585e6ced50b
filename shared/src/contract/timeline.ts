import {
  bool,
  count,
  date,
  extended,
  instant,
  int,
  listOf,
  localTime,
  named,
  nullable,
  object,
  type Of,
  seconds,
  text,
  words,
} from './shape/shape.ts';
import { Verdict } from './verdict.ts';
import { pageFields } from './wire.ts';

/** A run to come. */
export const UpcomingRun = object({
  scheduledFor: instant,
  /** In the CronJob's zone, with its offset. */
  localTime,
  /** `repeated`: this wall time comes twice. */
  dst: words(['none', 'repeated']),
  inMaintenance: bool,
});
export type UpcomingRun = Of<typeof UpcomingRun>;

/** GET /api/v1/cronjobs/{namespace}/{name}/timeline, and one lane of the fleet's. */
export const TimelineItem = object('TimelineItem', {
  namespace: text,
  name: text,
  timezone: nullable(text),
  suspended: bool,
  verdict: Verdict,
  /** p50; null = no data. */
  expectedDurationSeconds: nullable(seconds),
  next: listOf(UpcomingRun),
  /** Local dates on which a run is due at a wall time that does not exist. */
  skippedDates: listOf(date),
  /** How many more runs the window holds. */
  omitted: count,
});
export type TimelineItem = Of<typeof TimelineItem>;

export const TimelineBucket = object({ start: instant, runs: count, cronJobs: count });
export type TimelineBucket = Of<typeof TimelineBucket>;

/** GET /api/v1/timeline */
export const Timeline = named(
  'Timeline',
  extended(pageFields(TimelineItem), {
    from: instant,
    until: instant,
    bucketSeconds: int,
    /** Some run more than once a bucket and were counted by their rate. */
    approximate: bool,
    buckets: listOf(TimelineBucket),
  }),
);
export type Timeline = Of<typeof Timeline>;

export const timelineSortKeys = ['nextRun', 'name', 'namespace', 'status'] as const;
export type TimelineSortKey = (typeof timelineSortKeys)[number];
