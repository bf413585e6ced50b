import { type Instant, judgesFromAt } from '../../domain/index.ts';
import { change, firstRow, inParts, insertRows, marks, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { rowsByUid, rowsIn, updateAll } from '../upsert.ts';
import { cronJobIdsOf, judgesFrom } from './cron-job-ids.ts';
import { relist } from './cronjob-list.ts';
import { findMonitorId, tellMonitor } from './monitors.ts';

/** One CronJob that a monitor selects. */
export interface MonitorTarget {
  readonly cronJobUid: string;
  /** This monitor's windows and target are the ones that the CronJob's row shows. */
  readonly leading: boolean;
  /**
   * Since when it is selected without a break, if that is known to be later than its creation and that of the monitor: whatever is stored,
   * before that there was a time in which it was not.
   */
  readonly selectedSinceAt?: Instant | undefined;
}

interface KnownTarget {
  readonly leading: boolean;
  readonly removedAt: Instant | undefined;
  readonly judgesFromAt: Instant | undefined;
  readonly judgedAt: Instant | undefined;
}

/**
 * Makes these the targets of the monitor. One no longer named keeps its row with `removed_at` = at; one that comes back loses
 * it, keeps its counters and is judged anew from then on. A difference is told as a change of the monitor. CronJobs that are unknown or
 * deleted are left out and returned. An unknown monitor has no targets.
 */
export async function setTargets(
  tx: Tx,
  monitorUid: string,
  targets: readonly MonitorTarget[],
  at: Instant,
  /** When those that are not named left, by the UID of the CronJob; of others that was found now. `stay`: they did not. */
  leftAt: ReadonlyMap<string, Instant> | 'stay' = new Map(),
): Promise<{ added: number; removed: number; unknown: string[] }> {
  const uids = targets.map(({ cronJobUid }) => cronJobUid);
  const monitorId = await findMonitorId(tx, monitorUid);
  if (monitorId === undefined) return { added: 0, removed: 0, unknown: uids };
  const present = await rowsByUid(
    tx,
    uids,
    'uid',
    (list) => `select id, uid from cronjobs where uid in (${list}) and deleted_at is null`,
  );
  const ids = new Map([...present].map(([uid, row]) => [uid, Number(row['id'])]));
  const unknown = uids.filter((uid) => !ids.has(uid));

  const before = await lockKnown(tx, monitorId);
  const wanted = new Map<number, MonitorTarget>();
  for (const target of targets) {
    const id = ids.get(target.cronJobUid);
    if (id !== undefined) wanted.set(id, target);
  }

  const begun = await originsOf(
    tx,
    monitorId,
    [...wanted].flatMap(([id, target]) =>
      beginsAnew(target, before.get(id)) ? [{ id, selectedSinceAt: selectedSince(target, before.get(id)) }] : [],
    ),
  );
  const differing = [...wanted].filter(([id, target]) => begun.has(id) || before.get(id)?.leading !== target.leading);
  await insertRows(tx, {
    table: 'monitor_targets',
    columns,
    rows: differing.map(([id, target]) => {
      const anew = begun.get(id);
      const row = before.get(id);
      const origin = anew === undefined ? [row?.judgesFromAt ?? null, row?.judgedAt ?? null] : [anew, null];
      return [monitorId, id, Number(target.leading), null, at, ...origin];
    }),
    tail: updateAll(tx.dialect, ['monitor_id', 'cronjob_id'], ['leading', 'removed_at', 'judges_from_at', 'judged_at']),
  });
  const others = leftAt === 'stay' ? [] : [...before].filter(([id]) => !wanted.has(id));
  const removed = others.filter(([, row]) => row.removedAt === undefined).map(([id]) => id);
  const known = new Map(leftAt === 'stay' ? [] : leftAt);
  const leftIds = new Map([...(await cronJobIdsOf(tx, [...known.keys()]))].map(([uid, id]) => [id, known.get(uid)]));
  for (const [removedAt, some] of Map.groupBy(removed, (id) => leftIds.get(id) ?? at))
    await removeTargets(tx, monitorId, some, removedAt);
  if (differing.length > 0 || removed.length > 0) await tellMonitor(tx, monitorId, { deleted: false });

  await judgeSlotsFrom(tx, monitorId, begun);
  await relist(tx, [...differing.map(([id]) => id), ...removed]);
  const added = differing.filter(([id]) => {
    const row = before.get(id);
    return row === undefined || row.removedAt !== undefined;
  }).length;
  return { added, removed: removed.length, unknown };
}

/** UIDs of the CronJobs that the monitor of this UID selects, as far as it was written. */
export async function listTargetsOf(db: Db, monitorUid: string): Promise<ReadonlySet<string>> {
  const found = await rows(
    db,
    'select c.uid_text from monitor_targets t join monitors m on m.id = t.monitor_id join cronjobs c on c.id = t.cronjob_id ' +
      'where m.uid = ? and t.removed_at is null',
    [db.dialect.id16(monitorUid)],
  );
  return new Set(found.map((row) => String(row['uid_text'])));
}

const columns = [
  'monitor_id',
  'cronjob_id',
  'leading',
  'removed_at',
  'first_seen_at',
  'judges_from_at',
  'judged_at',
] as const;

async function lockKnown(tx: Tx, monitorId: number): Promise<ReadonlyMap<number, KnownTarget>> {
  const found = await rows(
    tx,
    `select cronjob_id, "leading", removed_at, judges_from_at, judged_at from monitor_targets where monitor_id = ?${tx.dialect.lock.update}`,
    [monitorId],
  );
  return new Map(
    found.map((row) => [
      Number(row['cronjob_id']),
      {
        leading: Number(row['leading']) === 1,
        removedAt: optionalNumber(row['removed_at']),
        judgesFromAt: optionalNumber(row['judges_from_at']),
        judgedAt: optionalNumber(row['judged_at']),
      },
    ]),
  );
}

/** The watch is a new one: it was none, it was none for a while, or its row is of a release that wrote no origin. */
function beginsAnew({ selectedSinceAt }: MonitorTarget, row: KnownTarget | undefined): boolean {
  if (row === undefined || row.removedAt !== undefined || row.judgesFromAt === undefined) return true;
  return selectedSinceAt !== undefined && selectedSinceAt > row.judgesFromAt;
}

/** One that was no target until now was none until its row said so, unless the caller knows a later instant. */
function selectedSince({ selectedSinceAt }: MonitorTarget, row: KnownTarget | undefined): Instant | undefined {
  return selectedSinceAt ?? row?.removedAt;
}

/** From when on the monitor judges each of these CronJobs: by its own creation, theirs, and the selection. */
async function originsOf(
  tx: Tx,
  monitorId: number,
  begun: readonly { readonly id: number; readonly selectedSinceAt: Instant | undefined }[],
): Promise<ReadonlyMap<number, Instant>> {
  if (begun.length === 0) return new Map();
  const monitor = await firstRow(tx, 'select created_at from monitors where id = ?', [monitorId]);
  const monitorCreatedAt = Number(monitor?.['created_at']);
  const found = await rowsIn(
    tx,
    begun.map(({ id }) => id),
    (list) => `select id, created_at from cronjobs where id in (${list})`,
  );
  const createdAt = new Map(found.map((row) => [Number(row['id']), Number(row['created_at'])]));
  return new Map(
    begun.map(({ id, selectedSinceAt }) => [
      id,
      judgesFromAt({ monitorCreatedAt, cronJobCreatedAt: createdAt.get(id) ?? monitorCreatedAt, selectedSinceAt }),
    ]),
  );
}

async function removeTargets(tx: Tx, monitorId: number, cronJobIds: readonly number[], at: Instant): Promise<void> {
  for (const ids of inParts(cronJobIds)) {
    await change(
      tx,
      `update monitor_targets set "leading" = 0, removed_at = ? where monitor_id = ? and cronjob_id in (${marks(ids)})`,
      [at, monitorId, ...ids],
    );
  }
}

/**
 * Expected runs of these CronJobs are judged from the instant on at which this watch began, unless another monitor judged them then
 * already: outcomes that are written stay, and nothing of a time in which none judged gets one.
 */
async function judgeSlotsFrom(tx: Tx, monitorId: number, begun: ReadonlyMap<number, Instant>): Promise<void> {
  for (const [fromAt, ofInstant] of Map.groupBy([...begun], ([, at]) => at)) {
    for (const ids of inParts(ofInstant.map(([id]) => id))) {
      await change(
        tx,
        'update cronjobs set evaluated_through_at = ?, waiting_slot_at = null where evaluated_through_at is not null ' +
          `and id in (${marks(ids)}) and not exists (select 1 from monitor_targets t where t.cronjob_id = cronjobs.id ` +
          `and t.monitor_id <> ? and t.removed_at is null and ${judgesFrom('t', 'cronjobs')} <= ?)`,
        [fromAt - 1, ...ids, monitorId, fromAt],
      );
    }
  }
}

/** The runs of these CronJobs that these monitors may be told of are judged: from now on each run is judged when it is recorded. */
export async function markWatchesJudged(
  tx: Tx,
  watches: readonly { readonly monitorId: number; readonly cronJobId: number }[],
): Promise<void> {
  for (const [monitorId, ofMonitor] of Map.groupBy(watches, (watch) => watch.monitorId)) {
    for (const ids of inParts(ofMonitor.map(({ cronJobId }) => cronJobId))) {
      await change(
        tx,
        `update monitor_targets set judged_at = coalesce(judged_at, ?), news_from_at = null where monitor_id = ? ` +
          `and (judged_at is null or news_from_at is not null) and cronjob_id in (${marks(ids)})`,
        [tx.now(), monitorId, ...ids],
      );
    }
  }
}
