import type { MonitorPhase, Ref } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { firstRow, inParts, marks, rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { fromJson, optionalNumber } from '../column.ts';

/** A monitor as its reconciler last judged it. JSON values are as it wrote them. */
export interface CatalogMonitor {
  readonly id: number;
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

export interface MonitorOfCronJob extends Ref {
  readonly monitorId: number;
  readonly cronJobId: number;
  /** Its windows and target are the ones that the CronJob shows. */
  readonly leading: boolean;
}

const columns =
  'm.id, m.uid, m.namespace, m.name, m.generation, m.created_at, m.spec, m.phase, m.conditions, m.counts, m.evaluated_at';

/** Every monitor that exists, by namespace and name. There are hundreds at most: filters and order are the caller's. */
export async function listMonitors(db: Db): Promise<CatalogMonitor[]> {
  const found = await rows(
    db,
    `select ${columns} from monitors m where m.deleted_at is null order by m.namespace, m.name, m.id`,
  );
  return found.map((row) => toCatalogMonitor(db, row));
}

/** Every monitor that exists or was deleted at `since` or later; `deletedAt` undefined: it is not known to be gone. */
export async function listMonitorsSince(
  db: Db,
  since: Instant,
): Promise<(CatalogMonitor & { readonly deletedAt: Instant | undefined })[]> {
  const found = await rows(
    db,
    `select ${columns}, m.deleted_at from monitors m where m.deleted_at is null or m.deleted_at >= ? order by m.id`,
    [since],
  );
  return found.map((row) => ({ ...toCatalogMonitor(db, row), deletedAt: optionalNumber(row['deleted_at']) }));
}

/** Number of existing monitors by phase; a phase without monitors is absent. */
export async function countMonitorPhases(db: Db): Promise<ReadonlyMap<MonitorPhase, number>> {
  const found = await rows(db, 'select phase, count(*) as n_all from monitors where deleted_at is null group by phase');
  return new Map(found.map((row) => [String(row['phase']) as MonitorPhase, Number(row['n_all'])]));
}

/** Undefined when it does not exist, or no longer; `wasDeleted` tells which. */
export async function findMonitor(
  db: Db,
  { namespace, name }: Ref,
): Promise<{ monitor: CatalogMonitor | undefined; wasDeleted: boolean }> {
  const row = await firstRow(
    db,
    `select ${columns}, m.deleted_at from monitors m where m.namespace = ? and m.name = ? ` +
      'order by case when m.deleted_at is null then 0 else 1 end, m.id desc limit 1',
    [namespace, name],
  );
  const wasDeleted = row !== undefined && optionalNumber(row['deleted_at']) !== undefined;
  return { monitor: row && !wasDeleted ? toCatalogMonitor(db, row) : undefined, wasDeleted };
}

/** The monitors of these CronJobs, leading ones first; of all CronJobs when no ids are given. */
export async function listMonitorsOf(db: Db, cronJobIds?: readonly number[]): Promise<MonitorOfCronJob[]> {
  const select =
    'select t.cronjob_id, t.monitor_id, t.leading, m.namespace, m.name from monitor_targets t ' +
    'join monitors m on m.id = t.monitor_id where t.removed_at is null and m.deleted_at is null';
  const order = ' order by t.cronjob_id, t.leading desc, m.namespace, m.name';
  const found: Row[] = [];
  if (cronJobIds === undefined) found.push(...(await rows(db, select + order)));
  for (const ids of inParts(cronJobIds ?? [])) {
    found.push(...(await rows(db, `${select} and t.cronjob_id in (${marks(ids)})${order}`, ids)));
  }
  return found.map((row) => ({
    cronJobId: Number(row['cronjob_id']),
    monitorId: Number(row['monitor_id']),
    leading: Number(row['leading']) === 1,
    namespace: String(row['namespace']),
    name: String(row['name']),
  }));
}

function toCatalogMonitor(db: Db, row: Row): CatalogMonitor {
  return {
    id: Number(row['id']),
    uid: db.dialect.id16Text(row['uid']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    generation: Number(row['generation']),
    createdAt: Number(row['created_at']),
    spec: fromJson(row['spec']),
    phase: String(row['phase']) as MonitorPhase,
    conditions: fromJson(row['conditions']) as readonly unknown[],
    counts: fromJson(row['counts']),
    evaluatedAt: optionalNumber(row['evaluated_at']),
  };
}
