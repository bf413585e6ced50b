import type { MonitorPhase } from '../../contract/index.ts';
import { isMadeAnew, madeAnewWithinMs, slaOf, type Instant } from '../../domain/index.ts';
import { change, firstRow, insertRows, rows, type Row } from '../ask.ts';
import { recordChanges } from '../changes.ts';
import { forgetFindings } from '../cluster-state.ts';
import { fromJson, optionalNumber, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { quoted, rowsIn, updateAll } from '../upsert.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { lockCronJobs } from './cron-job-ids.ts';
import type { CatalogMonitor } from './list-monitors.ts';
import { relist } from './cronjob-list.ts';
import { moveAlertCounters } from './cron-job-change.ts';

/** A CronJobMonitor as applied: spec with defaults and ceilings, and what its reconciler found. JSON values are kept as given. */
export interface MonitorProjection extends Omit<CatalogMonitor, 'id'> {
  /** When an earlier object of its name was seen to go; undefined: none was. */
  readonly earlierGoneAt?: Instant | undefined;
  /** When its spec was written last, by the cluster; undefined: not known. */
  readonly specWrittenAt?: Instant | undefined;
}

const columns = [
  'uid',
  'namespace',
  'name',
  'generation',
  'created_at',
  'spec',
  'phase',
  'conditions',
  'counts',
  'evaluated_at',
  'deleted_at',
] as const;

/** Columns whose change readers are told of: not the instant of the last evaluation. */
const shown = ['generation', 'spec', 'phase', 'conditions', 'counts', 'deleted_at'] as const;

/**
 * Writes the monitor's row. One that is made anew soon after another of its namespace and name was deleted takes over that one's row, with
 * alerts, counters and origins; else another UID of that name is marked deleted. Returns its id, whether it changed, and what it asked until
 * when, if it was edited.
 */
export async function projectMonitor(
  tx: Tx,
  monitor: MonitorProjection,
): Promise<{
  id: number;
  created: boolean;
  changed: boolean;
  edited: { readonly earlierSpec: unknown; readonly at: Instant } | undefined;
}> {
  const uid = tx.dialect.id16(monitor.uid);
  const isTakenOver = await takeOver(tx, monitor);
  const before = await firstRow(
    tx,
    `select ${quoted(shown)}, created_at, respecified_at from monitors where uid = ?${tx.dialect.lock.update}`,
    [uid],
  );
  const row: Record<(typeof columns)[number], unknown> = {
    uid,
    namespace: monitor.namespace,
    name: monitor.name,
    generation: monitor.generation,
    created_at: monitor.createdAt,
    spec: toJson(monitor.spec),
    phase: monitor.phase,
    conditions: toJson(monitor.conditions),
    counts: toJson(monitor.counts),
    evaluated_at: monitor.evaluatedAt ?? null,
    deleted_at: null,
  };
  await insertRows(tx, {
    table: 'monitors',
    columns,
    rows: [columns.map((column) => row[column])],
    // The creation of a row that was taken over stays that of the first.
    tail: updateAll(
      tx.dialect,
      ['uid'],
      columns.slice(3).filter((column) => column !== 'created_at'),
    ),
  });

  // Changed defaults of another release or configuration are not an edit of the monitor.
  const isEdited = isTakenOver || Number(before?.['generation']) !== monitor.generation;
  const earlierSpec = specMeant(before ?? {});
  const edited =
    before !== undefined && isEdited && before['spec'] !== row.spec
      ? { earlierSpec, at: respecifiedAt(before, monitor.specWrittenAt, tx.now()) }
      : undefined;
  if (edited)
    await change(tx, 'update monitors set earlier_spec = ?, respecified_at = ? where uid = ?', [
      toJson(earlierSpec),
      edited.at,
      uid,
    ]);
  const created = before === undefined;
  const changed = created || shown.some((column) => before[column] !== row[column]);
  if (created) await forgetNamesakes(tx, monitor);
  if (changed) await recordMonitorChange(tx, monitor, false);
  const id = await findMonitorId(tx, monitor.uid);
  if (id === undefined) throw new RangeError('a monitor was projected and has no row');
  // The list keeps the monitor's rate target with each CronJob.
  const asksTheSame = toJson(slaOf(fromJson(before?.['spec']))) === toJson(slaOf(monitor.spec));
  if (isTakenOver || !asksTheSame) await relist(tx, await listTargetIds(tx, id));
  return { id, created, changed, edited };
}

/** Writes that the monitor was looked at and is as before. Returns false when it has no row, or was deleted. */
export async function markEvaluated(tx: Tx, uid: string, at: Instant): Promise<boolean> {
  const marked = await change(tx, 'update monitors set evaluated_at = ? where uid = ? and deleted_at is null', [
    at,
    tx.dialect.id16(uid),
  ]);
  return marked > 0;
}

/** Marks a monitor deleted at `at` and removes its targets. Returns false when it was not known, or deleted before. */
export async function forgetMonitor(tx: Tx, uid: string, at: Instant): Promise<boolean> {
  await forgetFindings(tx, uid);
  // A newer object of the name that takes the row over at this moment makes it its own: the lock waits for that, and then finds none.
  const row = await firstRow(tx, `select id from monitors where uid = ?${tx.dialect.lock.update}`, [
    tx.dialect.id16(uid),
  ]);
  return row !== undefined && markDeleted(tx, Number(row['id']), at);
}

/** Key of a monitor's row; undefined when it was never seen. */
export async function findMonitorId(db: Db, uid: string): Promise<number | undefined> {
  const row = await firstRow(db, 'select id from monitors where uid = ?', [db.dialect.id16(uid)]);
  return row === undefined ? undefined : Number(row['id']);
}

/** Specs of these monitors as written, and earlier specs, by key. A spec that cannot be decoded is empty. */
export async function listSpecs(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, { readonly spec: unknown; readonly earlierSpec: unknown }>> {
  const found = await rowsIn(
    db,
    ids,
    (marks) => `select id, spec, earlier_spec, conditions from monitors where id in (${marks})`,
  );
  return new Map(
    found.map((row) => [Number(row['id']), { spec: specMeant(row), earlierSpec: fromJson(row['earlier_spec']) }]),
  );
}

/** The spec in a row; empty where a part could not be decoded, since that part would be off by mistake. */
function specMeant(row: Row): unknown {
  const conditions = fromJson(row['conditions']);
  const isMisread =
    Array.isArray(conditions) &&
    conditions.some(
      (one: Readonly<Record<string, unknown>>) => one['type'] === 'SpecValid' && one['status'] === 'False',
    );
  return isMisread ? {} : fromJson(row['spec']);
}

async function markDeleted(tx: Tx, id: number, at: Instant): Promise<boolean> {
  const marked = await change(tx, 'update monitors set deleted_at = ? where id = ? and deleted_at is null', [at, id]);
  if (marked === 0) return false;
  const selected = await listTargetIds(tx, id);
  await suppressAlertsOf(tx, id, at + madeAnewWithinMs);
  await change(
    tx,
    'update monitor_targets set removed_at = ?, "leading" = 0 where monitor_id = ? and removed_at is null',
    [at, id],
  );
  await relist(tx, selected);
  await tellMonitor(tx, id, { deleted: true });
  return true;
}

async function listTargetIds(db: Db, id: number): Promise<number[]> {
  const found = await rows(db, 'select cronjob_id from monitor_targets where monitor_id = ? and removed_at is null', [
    id,
  ]);
  return found.map((row) => Number(row['cronjob_id']));
}

/** Tells that a monitor, or what it selects, is another one now. */
export async function tellMonitor(tx: Tx, id: number, { deleted }: { readonly deleted: boolean }): Promise<void> {
  const row = await firstRow(tx, 'select namespace, name, phase from monitors where id = ?', [id]);
  const monitor = {
    namespace: String(row?.['namespace']),
    name: String(row?.['name']),
    // Written from the same type.
    phase: String(row?.['phase']) as MonitorPhase,
  };
  await recordMonitorChange(tx, monitor, deleted);
}

/** When the cluster says that the spec was written, where it says anything newer than what is known; else now, when that is seen. */
function respecifiedAt(before: Row, writtenAt: Instant | undefined, now: Instant): Instant {
  const knownAt = optionalNumber(before['respecified_at']) ?? Number(before['created_at']);
  return writtenAt !== undefined && writtenAt > knownAt ? Math.min(writtenAt, now) : now;
}

/** The row of an earlier object of this name that the monitor goes on with becomes its own. Returns whether one did. */
async function takeOver(
  tx: Tx,
  { uid, namespace, name, createdAt, earlierGoneAt }: MonitorProjection,
): Promise<boolean> {
  const known = await rows(
    tx,
    `select id, uid, deleted_at from monitors where namespace = ? and name = ? order by id desc limit 1${tx.dialect.lock.update}`,
    [namespace, name],
  );
  const [earlier] = known;
  if (earlier === undefined || tx.dialect.id16Text(earlier['uid']) === toId16(uid)) return false;
  const id = Number(earlier['id']);
  const deletedAt = optionalNumber(earlier['deleted_at']);
  if (!isMadeAnew(createdAt, deletedAt ?? earlierGoneAt)) {
    if (deletedAt === undefined) await markDeleted(tx, id, earlierGoneAt ?? tx.now());
    return false;
  }
  await change(
    tx,
    'update monitors set first_uid = coalesce(first_uid, uid), uid = ?, deleted_at = null where id = ?',
    [tx.dialect.id16(uid), id],
  );
  // Runs that ended meanwhile are news to this monitor, even where other monitors judged them.
  if (deletedAt === undefined) {
    if (earlierGoneAt !== undefined)
      await change(
        tx,
        'update monitor_targets set news_from_at = coalesce(news_from_at, ?) where monitor_id = ? and removed_at is null',
        [earlierGoneAt, id],
      );
    return true;
  }
  await change(
    tx,
    'update monitor_targets set removed_at = null, news_from_at = coalesce(news_from_at, ?) where monitor_id = ? and removed_at = ?',
    [deletedAt, id, deletedAt],
  );
  await resumeAlertsOf(tx, id);
  return true;
}

/** Earlier objects of the same namespace and name: a new UID is another monitor. */
async function forgetNamesakes(tx: Tx, { uid, namespace, name }: MonitorProjection): Promise<void> {
  const namesakes = await rows(
    tx,
    'select id from monitors where namespace = ? and name = ? and uid <> ? and deleted_at is null',
    [namespace, name, tx.dialect.id16(uid)],
  );
  // Seldom more than one.
  for (const row of namesakes) await markDeleted(tx, Number(row['id']), tx.now());
}

async function recordMonitorChange(
  tx: Tx,
  monitor: Pick<MonitorProjection, 'namespace' | 'name' | 'phase'>,
  deleted: boolean,
): Promise<void> {
  const { namespace, name, phase } = monitor;
  await recordChanges(tx, [{ kind: 'monitor', namespace, data: { namespace, name, phase, deleted } }]);
}

/** Kept on an active alert that owes a message, so that it still owes it when its monitor is there again. */
const owed = 'owed';

/** The monitor is gone: its active alerts are suppressed, and at `untilAt` all of them are looked at again. */
async function suppressAlertsOf(tx: Tx, monitorId: number, untilAt: Instant): Promise<void> {
  const live = await lockAlertsOf(tx, monitorId);
  if (live.length === 0) return;
  await change(
    tx,
    // MySQL assigns from left to right: the mark comes before the instant that it is read from.
    "update alerts set state = 'suppressed', suppressed_by = 'monitorGone', " +
      'suppressed_ref = case when due_at is null then null else ? end, due_at = ? ' +
      "where monitor_id = ? and state = 'active'",
    [owed, untilAt, monitorId],
  );
  await change(tx, "update alerts set due_at = ? where monitor_id = ? and state in ('pending', 'suppressed')", [
    untilAt,
    monitorId,
  ]);
  await note(tx, live, { action: 'suppressed', untilAt });
}

/** The monitor is there again: what was active is active, as if nothing had been; all that waits is looked at now. */
async function resumeAlertsOf(tx: Tx, monitorId: number): Promise<void> {
  const live = await lockAlertsOf(tx, monitorId);
  if (live.length === 0) return;
  const resume = (which: string, dueAt: Instant | null): Promise<number> =>
    change(
      tx,
      "update alerts set state = 'active', suppressed_by = null, suppressed_ref = null, due_at = ? " +
        `where monitor_id = ? and state = 'suppressed' and suppressed_by = 'monitorGone' and suppressed_ref ${which}`,
      [dueAt, monitorId],
    );
  await resume(`= '${owed}'`, tx.now());
  await resume('is null', null);
  await change(
    tx,
    "update alerts set due_at = ? where monitor_id = ? and due_at is not null and state in ('pending', 'suppressed')",
    [tx.now(), monitorId],
  );
  await note(tx, live, { action: 'released', untilAt: undefined });
}

interface LiveAlert {
  readonly id: string;
  readonly cronJobId: number;
}

async function lockAlertsOf(tx: Tx, monitorId: number): Promise<readonly LiveAlert[]> {
  const found = await rows(
    tx,
    "select id, cronjob_id from alerts where monitor_id = ? and state in ('pending', 'active', 'suppressed')",
    [monitorId],
  );
  const live = found.map((row) => ({ id: tx.dialect.id16Text(row['id']), cronJobId: Number(row['cronjob_id']) }));
  await lockCronJobs(tx, [...new Set(live.map(({ cronJobId }) => cronJobId))]);
  return live;
}

async function note(
  tx: Tx,
  live: readonly LiveAlert[],
  { action, untilAt }: { readonly action: 'suppressed' | 'released'; readonly untilAt: Instant | undefined },
): Promise<void> {
  await recordDecisions(
    tx,
    live.map(({ id, cronJobId }) => ({ alertId: id, cronJobId, action, reason: 'monitorGone', untilAt })),
  );
  await moveAlertCounters(
    tx,
    live.map(({ cronJobId }) => cronJobId),
  );
}
