import type { Instant } from '@cronjob-monitor/shared/domain';
import { cronJobIdsOf, listCronJobsWithAlerts, listDue, type Store } from '@cronjob-monitor/shared/store';

const mostDue = 20_000;

/** CronJobs with a Job that may be stuck by now, with a deadline that has come, or with an alert about either. `stuck`: their UIDs. */
export async function dueForRunning(store: Store, now: Instant, stuck: ReadonlySet<string>): Promise<number[]> {
  const due = await listDue(store, now, mostDue, ['finishBy']);
  const open = await listCronJobsWithAlerts(store, ['jobStuck', 'slaBreached']);
  const known = stuck.size === 0 ? new Map<string, number>() : await cronJobIdsOf(store, [...stuck]);
  return [...new Set([...due.map(({ cronJobId }) => cronJobId), ...open, ...known.values()])];
}
