import type { Instant } from '../../domain/index.ts';
import type { Db, Tx } from '../database.ts';
import { rowsByUid, rowsIn } from '../upsert.ts';

/**
 * From when on the watch of a row of `monitor_targets` judges this row of `cronjobs`. For a row of a release that did not know the column it
 * follows from the creations until its monitor is written again: when a row was written decides nothing.
 */
export const judgesFrom = (target: string, cronJob: string): string =>
  `coalesce(${target}.judges_from_at, (select case when o.created_at > ${cronJob}.created_at then o.created_at ` +
  `else ${cronJob}.created_at end from monitors o where o.id = ${target}.monitor_id))`;

/**
 * Up to where the expected runs of a CronJob are judged: before its first evaluation up to the instant from which on the first of its
 * monitors judges it.
 */
export const judgedThrough = (cronJob: string): string =>
  `coalesce(${cronJob}.evaluated_through_at, (select min(${judgesFrom('w', cronJob)}) - 1 from monitor_targets w ` +
  `where w.cronjob_id = ${cronJob}.id and w.removed_at is null), ${cronJob}.first_seen_at)`;

/** Ids of catalog rows by CronJob UID; UIDs that no row has are missing. */
export async function cronJobIdsOf(db: Db, uids: readonly string[]): Promise<Map<string, number>> {
  const found = await rowsByUid(db, uids, 'uid', (marks) => `select id, uid from cronjobs where uid in (${marks})`);
  return new Map([...found].map(([uid, row]) => [uid, Number(row['id'])]));
}

/**
 * Locks the rows of these CronJobs until the transaction ends, in the order of their ids: a writer of history of a CronJob
 * does this first, so that recordings and deletions never meet half-way.
 */
export async function lockCronJobs(tx: Tx, ids: readonly number[]): Promise<void> {
  if (tx.dialect.isAlone) return;
  const rising = ids.toSorted((a, b) => a - b);
  await rowsIn(
    tx,
    rising,
    (marks) => `select id from cronjobs where id in (${marks}) order by id${tx.dialect.lock.update}`,
  );
}

/** From when on some monitor judges each of these CronJobs, else their creation; by UID, those without a row are missing. */
export async function listWatchedSince(db: Db, uids: readonly string[]): Promise<ReadonlyMap<string, Instant>> {
  const found = await rowsByUid(
    db,
    uids,
    'uid',
    (marks) =>
      `select uid, coalesce((select min(${judgesFrom('t', 'cronjobs')}) from monitor_targets t where t.cronjob_id = cronjobs.id ` +
      `and t.removed_at is null), created_at) as since_at from cronjobs where uid in (${marks})`,
  );
  return new Map([...found].map(([uid, row]) => [uid, Number(row['since_at'])]));
}
