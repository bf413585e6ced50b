import type { Instant } from '../../domain/index.ts';
import { change, inParts, insertRows, marks, rows } from '../ask.ts';
import type { Tx } from '../database.ts';
import { updateAll } from '../upsert.ts';
import { cronJobIdsOf } from './cron-job-ids.ts';
import { findMonitorId, tellMonitor } from './monitors.ts';

/** One CronJob that a monitor selects. `leading`: this monitor's windows and target are the ones the CronJob's row shows. */
export interface MonitorTarget {
  readonly cronJobUid: string;
  readonly leading: boolean;
}

/**
 * Makes these the targets of the monitor. One no longer named keeps its row with `removed_at` = at; one that comes back loses
 * it and keeps its counters. A difference is told as a change of the monitor. Unknown CronJob UIDs are left out and returned. An unknown monitor has no targets.
 */
export async function setTargets(
  tx: Tx,
  monitorUid: string,
  targets: readonly MonitorTarget[],
  at: Instant,
): Promise<{ added: number; removed: number; unknown: string[] }> {
  const uids = targets.map(({ cronJobUid }) => cronJobUid);
  const monitorId = await findMonitorId(tx, monitorUid);
  if (monitorId === undefined) return { added: 0, removed: 0, unknown: uids };
  const ids = await cronJobIdsOf(tx, uids);
  const unknown = uids.filter((uid) => !ids.has(uid));

  const found = await rows(
    tx,
    `select cronjob_id, "leading", removed_at from monitor_targets where monitor_id = ?${tx.dialect.lock.update}`,
    [monitorId],
  );
  const before = new Map(found.map((row) => [Number(row['cronjob_id']), row]));
  const wanted = new Map<number, number>();
  for (const { cronJobUid, leading } of targets) {
    const id = ids.get(cronJobUid);
    if (id !== undefined) wanted.set(id, Number(leading));
  }

  const differing = [...wanted].filter(([id, leading]) => {
    const row = before.get(id);
    return row === undefined || row['removed_at'] !== null || Number(row['leading']) !== leading;
  });
  await insertRows(tx, {
    table: 'monitor_targets',
    columns: ['monitor_id', 'cronjob_id', 'leading', 'removed_at', 'first_seen_at'],
    rows: differing.map(([id, leading]) => [monitorId, id, leading, null, at]),
    tail: updateAll(tx.dialect, ['monitor_id', 'cronjob_id'], ['leading', 'removed_at']),
  });
  const removed = [...before].filter(([id, row]) => row['removed_at'] === null && !wanted.has(id)).map(([id]) => id);
  await removeTargets(tx, monitorId, removed, at);
  if (differing.length > 0 || removed.length > 0) await tellMonitor(tx, monitorId, { deleted: false });

  await skipUnwatched(
    tx,
    monitorId,
    differing.map(([id]) => id).filter((id) => before.get(id) !== undefined && before.get(id)?.['removed_at'] !== null),
    at,
  );
  const added = differing.filter(([id]) => before.get(id)?.['removed_at'] !== null).length;
  return { added, removed: removed.length, unknown };
}

async function removeTargets(tx: Tx, monitorId: number, cronJobIds: readonly number[], at: Instant): Promise<void> {
  await insertRows(tx, {
    table: 'monitor_targets',
    columns: ['monitor_id', 'cronjob_id', 'leading', 'removed_at', 'first_seen_at'],
    rows: cronJobIds.map((id) => [monitorId, id, 0, at, at]),
    tail: updateAll(tx.dialect, ['monitor_id', 'cronjob_id'], ['leading', 'removed_at']),
  });
}

/**
 * CronJobs that come back to a monitor after a time in which none watched them: nothing of that time is judged, for its runs were not
 * recorded.
 */
async function skipUnwatched(tx: Tx, monitorId: number, cronJobIds: readonly number[], at: Instant): Promise<void> {
  for (const ids of inParts(cronJobIds)) {
    // One part after the other: they share a connection.
    await change(
      tx,
      `update cronjobs set evaluated_through_at = ?, waiting_slot_at = null where id in (${marks(ids)}) and not exists ` +
        '(select 1 from monitor_targets t where t.cronjob_id = cronjobs.id and t.monitor_id <> ? and t.removed_at is null)',
      [at, ...ids, monitorId],
    );
  }
}
