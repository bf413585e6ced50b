import type { Instant } from '@cronjob-monitor/shared/domain';
import { listCronJobsWithAlerts, type Store, listDue, cronJobIdsOf } from '@cronjob-monitor/shared/store';
import { typesAskedBy } from '../evaluate/index.ts';

/**
 * CronJobs whose verdict may change now by the rules of the last judgement: a due instant has come, or an alert is open.
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

/** The ledger writes `slots`; verdicts that time alone can change write `presence`. */
const kinds = ['slots', 'presence'];
/** More than a fleet has; the next tick takes the rest. */
const mostDue = 20_000;

interface DueForPresence {
  readonly ids: readonly number[];
  /** CronJobs that are due by slots alone: where all those slots were started, no verdict is asked for. */
  readonly slotsOnly: ReadonlySet<number>;
}

/** CronJobs that may have missed a run, been without a success or been suspended for too long by now. Reminders of failed runs are due here too. */
export async function dueForPresence(store: Store, now: Instant): Promise<DueForPresence> {
  const due = await listDue(store, now, mostDue, kinds);
  const asked = new Set(await listCronJobsWithAlerts(store, typesAskedBy('dead-man-switch')));
  for (const { cronJobId, kind } of due) if (kind === 'presence') asked.add(cronJobId);
  const slotsOnly = new Set(due.map(({ cronJobId }) => cronJobId).filter((id) => !asked.has(id)));
  return { ids: [...asked, ...slotsOnly], slotsOnly };
}

/** CronJobs with a Job that may be stuck by now, with a deadline that has come, or with an alert about either. `stuck`: their UIDs. */
export async function dueForRunning(store: Store, now: Instant, stuck: ReadonlySet<string>): Promise<number[]> {
  const due = await listDue(store, now, mostDue, ['finishBy']);
  const open = await listCronJobsWithAlerts(store, typesAskedBy('stuck-job-check'));
  const known = stuck.size === 0 ? new Map<string, number>() : await cronJobIdsOf(store, [...stuck]);
  return [...new Set([...due.map(({ cronJobId }) => cronJobId), ...open, ...known.values()])];
}
