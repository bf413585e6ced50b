import type { Instant } from '@cronjob-monitor/shared/domain';
import { listCronJobsWithAlerts, type Store } from '@cronjob-monitor/shared/store';
import { dueForPresence, type DueForPresence } from './dead-man-switch.ts';
import { dueForRunning } from './stuck-job-check.ts';

/**
 * Everything about which something may be told now, as the rules were when it was judged last: time has come, or an alert is open.
 * `stuck`: UIDs of CronJobs with a Job that may be stuck.
 */
export async function dueOrOpen(store: Store, now: Instant, stuck: ReadonlySet<string>): Promise<DueForPresence> {
  const presence = await dueForPresence(store, now);
  const others = new Set([...(await dueForRunning(store, now, stuck)), ...(await listCronJobsWithAlerts(store))]);
  return {
    ids: [...new Set([...presence.ids, ...others])],
    slotsOnly: presence.slotsOnly.difference(others),
  };
}
