import type { MonitorPhase } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { change, firstRow, insertRows, rows } from '../ask.ts';
import { recordChanges } from '../changes.ts';
import { toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { quoted, updateAll } from '../upsert.ts';

/** A CronJobMonitor as applied: spec with defaults and ceilings, and what its reconciler found. JSON values are kept as given. */
export interface MonitorProjection {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly spec: unknown;
  readonly phase: MonitorPhase;
  readonly conditions: readonly unknown[];
  readonly counts: unknown;
  /** End of the last reconcile that succeeded; undefined: never. */
  readonly evaluatedAt: Instant | undefined;
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

/** What makes a reader look again: not the instant of the last evaluation. */
const shown = ['generation', 'spec', 'phase', 'conditions', 'counts', 'deleted_at'] as const;

/** Writes the monitor's row. Another UID of the same namespace and name is marked deleted. Returns its id, and whether it changed. */
export async function projectMonitor(
  tx: Tx,
  monitor: MonitorProjection,
): Promise<{ id: number; created: boolean; changed: boolean }> {
  const uid = tx.dialect.id16(toId16(monitor.uid));
  const before = await firstRow(tx, `select ${quoted(shown)} from monitors where uid = ?${tx.dialect.lock.update}`, [
    uid,
  ]);
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
    tail: updateAll(tx.dialect, ['uid'], columns.slice(3)),
  });

  const created = before === undefined;
  const changed = created || shown.some((column) => before[column] !== row[column]);
  if (created) await forgetNamesakes(tx, monitor);
  if (changed) await recordMonitorChange(tx, monitor, false);
  const id = await findMonitorId(tx, monitor.uid);
  if (id === undefined) throw new RangeError('a monitor was projected and has no row');
  return { id, created, changed };
}

/** Marks a monitor deleted at `at` and removes its targets. Returns false when it was not known, or deleted before. */
export async function forgetMonitor(tx: Tx, uid: string, at: Instant): Promise<boolean> {
  const id = await findMonitorId(tx, uid);
  return id !== undefined && markDeleted(tx, id, at);
}

/** Key of a monitor's row; undefined when it was never seen. */
export async function findMonitorId(db: Db, uid: string): Promise<number | undefined> {
  const row = await firstRow(db, 'select id from monitors where uid = ?', [db.dialect.id16(toId16(uid))]);
  return row === undefined ? undefined : Number(row['id']);
}

async function markDeleted(tx: Tx, id: number, at: Instant): Promise<boolean> {
  const marked = await change(tx, 'update monitors set deleted_at = ? where id = ? and deleted_at is null', [at, id]);
  if (marked === 0) return false;
  await change(
    tx,
    'update monitor_targets set removed_at = ?, "leading" = 0 where monitor_id = ? and removed_at is null',
    [at, id],
  );
  await tellMonitor(tx, id, { deleted: true });
  return true;
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

/** Earlier objects of the same namespace and name: a new UID is another monitor. */
async function forgetNamesakes(tx: Tx, { uid, namespace, name }: MonitorProjection): Promise<void> {
  const namesakes = await rows(
    tx,
    'select id from monitors where namespace = ? and name = ? and uid <> ? and deleted_at is null',
    [namespace, name, tx.dialect.id16(toId16(uid))],
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
