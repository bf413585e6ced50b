import type { Instant } from '../../domain/index.ts';
import type { Db, Tx } from '../database.ts';
import { rowsIn, rowsByUid } from '../upsert.ts';
import { judgesFrom } from './judges-from.ts';

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
