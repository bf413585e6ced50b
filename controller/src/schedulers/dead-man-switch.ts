import type { Instant } from '@cronjob-monitor/shared/domain';
import { listCronJobsWithAlerts, listDue, type Store } from '@cronjob-monitor/shared/store';

/** Slots come from the ledger, presence from verdicts that time alone can change. */
const kinds = ['slots', 'presence'];
/** More than a fleet has; what is left comes next. */
const mostDue = 20_000;
/** Failed runs have no tick of their own: reminders of them are due here. */
const types = ['jobFailed', 'missedSchedule', 'deadManTriggered', 'jobSuspended'] as const;

export interface DueForPresence {
  readonly ids: readonly number[];
  /** Those of them whose slots alone have come: when all of these were started, nothing else is asked. */
  readonly slotsOnly: ReadonlySet<number>;
}

/** CronJobs that may have missed a run, been without a success or been suspended for too long by now. */
export async function dueForPresence(store: Store, now: Instant): Promise<DueForPresence> {
  const due = await listDue(store, now, mostDue, kinds);
  const asked = new Set(await listCronJobsWithAlerts(store, types));
  for (const { cronJobId, kind } of due) if (kind === 'presence') asked.add(cronJobId);
  const slotsOnly = new Set(due.map(({ cronJobId }) => cronJobId).filter((id) => !asked.has(id)));
  return { ids: [...asked, ...slotsOnly], slotsOnly };
}
