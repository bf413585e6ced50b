import type { Verdict } from './verdict.ts';
import type { Page, WireInstant } from './wire.ts';

/** A run to come. */
export interface UpcomingRun {
  readonly scheduledFor: WireInstant;
  /** In the CronJob's zone, with its offset. */
  readonly localTime: string;
  /** `repeated`: this wall time comes twice. */
  readonly dst: 'none' | 'repeated';
  readonly inMaintenance: boolean;
}

/** GET /api/v1/cronjobs/{namespace}/{name}/timeline, and one lane of the fleet's. */
export interface TimelineItem {
  readonly namespace: string;
  readonly name: string;
  readonly timezone: string | null;
  readonly suspended: boolean;
  readonly verdict: Verdict;
  /** p50; null = no data. */
  readonly expectedDurationSeconds: number | null;
  readonly next: readonly UpcomingRun[];
  /** Local dates on which a run is due at a wall time that does not exist. */
  readonly skippedDates: readonly string[];
  /** How many more runs the window holds. */
  readonly omitted: number;
}

export interface TimelineBucket {
  readonly start: WireInstant;
  readonly runs: number;
  readonly cronJobs: number;
}

/** GET /api/v1/timeline */
export interface Timeline extends Page<TimelineItem> {
  readonly from: WireInstant;
  readonly until: WireInstant;
  readonly bucketSeconds: number;
  /** Some run more than once a bucket and were counted by their rate. */
  readonly approximate: boolean;
  readonly buckets: readonly TimelineBucket[];
}

export const timelineSortKeys = ['nextRun', 'name', 'namespace', 'status'] as const;
export type TimelineSortKey = (typeof timelineSortKeys)[number];
