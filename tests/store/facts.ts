import { randomUUID } from 'node:crypto';
import { type CronJobFacts, type Execution, minuteMs, dayMs } from '@cronjob-monitor/shared/domain';
import { projectCronJob, type CronJobSeen, type Store } from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun } from '@cronjob-monitor/shared/testing';

/** 08:00 UTC of five days ago, the instant around which the suites' rows lie: a store goes by the time of its server, and windows of days end now. */
export const now = (Math.floor(Date.now() / dayMs) - 5) * dayMs + 8 * 60 * minuteMs;

/** A CronJob with a name of its own. */
export function someCronJob(changes: Partial<CronJobFacts> = {}): CronJobFacts {
  const uid = changes.uid ?? randomUUID();
  return aCronJob({ uid, name: `job-${uid.slice(0, 13)}`, createdAt: now - 90 * dayMs, ...changes });
}

export function seen(facts: CronJobFacts, changes: Partial<CronJobSeen> = {}): CronJobSeen {
  return { facts, seenAt: now, ...changes };
}

/** Writes a CronJob and returns its facts and id. */
export async function projected(
  store: Store,
  epoch: number,
  changes: Partial<CronJobFacts> = {},
): Promise<CronJobFacts & { id: number }> {
  const facts = someCronJob(changes);
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts)));
  return { ...facts, id };
}

/** A scheduled success of this CronJob that took 60 s; its slot is its creation. */
export function aRun(cronJob: CronJobFacts, changes: Partial<Execution> = {}): Execution {
  return aRecordedRun(cronJob, changes.createdAt ?? now, {
    templateHash: 'a1b2c3d4e5f60718a1b2c3d4e5f60718',
    ...changes,
  });
}
