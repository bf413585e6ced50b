import type { AlertSubject, AlertType } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

/** One outage of the cluster, under which many CronJobs alert for the same reason. Kept in the database: it survives its leader. */
export interface Storm {
  readonly id: string;
  readonly beganAt: Instant;
  /** When a CronJob entered last. */
  readonly lastEntryAt: Instant;
}

/** So long after the last entry a storm is over, and so far back entries are counted. */
export const stormWindowMs = 5 * 60_000;

/** Types that one outage of the cluster brings about for many CronJobs at once (detection.md section 4). */
export function joinsStorms(type: AlertType, subject: AlertSubject | undefined): boolean {
  if (type === 'jobStuck') return subject === 'notStarted';
  return type === 'missedSchedule' || type === 'deadManTriggered' || subject === 'neverSucceeded';
}

/**
 * Whether so many CronJobs that entered within the window are a storm: at least the threshold, and a fifth of the fleet. 0 means that
 * there are none; a stale controller manager is one as soon as anything enters.
 */
export function isStorm(of: {
  readonly entered: number;
  readonly fleet: number;
  /** `rate-limits.storm-threshold`. */
  readonly threshold: number;
  readonly isControllerStale: boolean;
}): boolean {
  if (of.threshold === 0 || of.entered === 0) return false;
  return of.isControllerStale || (of.entered >= of.threshold && of.entered * 5 >= of.fleet);
}

/** Whether nothing has entered for a whole window. */
export function isStormOver(storm: Storm, now: Instant): boolean {
  return now >= storm.lastEntryAt + stormWindowMs;
}
