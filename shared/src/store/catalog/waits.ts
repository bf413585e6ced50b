import { optionalText } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { setWaiting } from './verdict-facts.ts';

/**
 * Keeps at each CronJob the Job that has waited in vain for longest, if one does, after its active Jobs have changed. Their rows are locked by
 * the caller. Mostly none waits, and none did: then it is one question.
 */
export async function tellWaits(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  const concerned = await rowsIn(
    tx,
    cronJobIds,
    (list) => `select c.id from cronjobs c where c.id in (${list}) and (c.waiting is not null or exists (
                 select 1 from active_jobs a where a.cronjob_id = c.id and a.hopeless_since_at is not null))`,
  );
  const ids = concerned.map((row) => Number(row['id']));
  if (ids.length === 0) return;
  const waits = await rowsIn(
    tx,
    ids,
    (list) => `select cronjob_id, job_name, waiting_reason, waiting_message, hopeless_since_at from active_jobs
               where hopeless_since_at is not null and cronjob_id in (${list}) order by hopeless_since_at, job_name`,
  );
  await setWaiting(
    tx,
    ids.map((cronJobId) => {
      const row = waits.find((wait) => Number(wait['cronjob_id']) === cronJobId);
      const waiting = row && {
        jobName: String(row['job_name']),
        sinceAt: Number(row['hopeless_since_at']),
        reason: optionalText(row['waiting_reason']) ?? 'not known',
        message: optionalText(row['waiting_message']),
      };
      return { cronJobId, waiting };
    }),
  );
}
