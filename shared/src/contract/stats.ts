import type { SlotOutcome } from './vocabulary.ts';
import type { StateCounts } from './verdict.ts';
import type { Percent, WireInstant } from './wire.ts';

/** Counts of CronJobs by `status`: `warning` takes in those that are failing; `suspended` and `running` are overlays, counted independently of it. */
export interface CronJobSummary {
  readonly healthy: number;
  readonly warning: number;
  readonly critical: number;
  readonly suspended: number;
  readonly running: number;
  readonly unknown: number;
}

export type SlotCounts = Readonly<Record<SlotOutcome, number>>;

/** GET /api/v1/stats */
export interface Stats {
  readonly totalMonitors: number;
  readonly totalCronJobs: number;
  readonly summary: CronJobSummary;
  readonly states: StateCounts;
  /** Of the whole set, whatever the namespaces. */
  readonly channels: { readonly total: number; readonly ready: number };
  readonly activeAlerts: number;
  /** Runs that ended in the last 24 h. */
  readonly executionsRecorded24h: number;
  readonly pendingAlerts: number;
  readonly suppressedAlerts: number;
  readonly acknowledgedAlerts: number;
  readonly successRate24h: Percent | null;
  readonly slots24h: SlotCounts;
  readonly lastEvaluation: WireInstant | null;
}
