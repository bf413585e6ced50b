import type { Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** Names of the CronJobs that these rows belong to: rows keep only what follows them in the names of Jobs. */
export async function namesOf(db: Db, found: readonly Row[]): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(found.map((row) => Number(row['cronjob_id'])))];
  const named = await rowsIn(db, ids, (marks) => `select id, name from cronjobs where id in (${marks})`);
  return new Map(named.map((row) => [Number(row['id']), String(row['name'])]));
}
