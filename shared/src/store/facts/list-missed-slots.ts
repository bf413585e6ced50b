import type { Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { outcomeWords } from '../words.ts';

/** CronJobs of one statement: each is a piece of it. */
const cronJobsPerStatement = 250;

/** The newest `count` expected runs of each CronJob that never started, newest first. A CronJob without any is absent. */
export async function listMissedSlots(
  db: Db,
  cronJobIds: readonly number[],
  count: number,
): Promise<ReadonlyMap<number, readonly Instant[]>> {
  const found = new Map<number, Instant[]>();
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    const pieces = ids.map(
      (_, index) =>
        `select * from (select cronjob_id, slot_at from slots where cronjob_id = ? and outcome = ${outcomeWords.toNumber('missed')} ` +
        `order by slot_at desc limit ${Math.floor(count)}) s${index}`,
    );
    for (const row of await rows(db, pieces.join(' union all '), ids)) {
      const id = Number(row['cronjob_id']);
      found.set(id, [...(found.get(id) ?? []), Number(row['slot_at'])]);
    }
  }
  for (const slots of found.values()) slots.sort((a, b) => b - a);
  return found;
}
