import { count, each, instant, named, nullable, object, percent, type Of } from './shape/shape.ts';
import { StateCounts } from './verdict.ts';
import { slotOutcomes } from './vocabulary.ts';

/** Counts of CronJobs by `status`: `warning` takes in those that are failing; `suspended` and `running` are overlays, counted independently of it. */
export const CronJobSummary = object('CronJobSummary', {
  healthy: count,
  warning: count,
  critical: count,
  suspended: count,
  running: count,
  unknown: count,
});
export type CronJobSummary = Of<typeof CronJobSummary>;

export const SlotCounts = named('SlotCounts', each(slotOutcomes, count));
export type SlotCounts = Of<typeof SlotCounts>;

/** GET /api/v1/stats */
export const Stats = object('Stats', {
  totalMonitors: count,
  totalCronJobs: count,
  summary: CronJobSummary,
  states: StateCounts,
  /** Of the whole set, whatever the namespaces. */
  channels: object({ total: count, ready: count }),
  activeAlerts: count,
  /** Runs that ended in the last 24 h. */
  executionsRecorded24h: count,
  pendingAlerts: count,
  suppressedAlerts: count,
  acknowledgedAlerts: count,
  successRate24h: nullable(percent),
  slots24h: SlotCounts,
  lastEvaluation: nullable(instant),
});
export type Stats = Of<typeof Stats>;
