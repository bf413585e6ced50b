import type { LintFinding } from '../domain/index.ts';
import { change, firstRow, insertRows, rows } from './ask.ts';
import { fromJson, toJson } from './column.ts';
import type { Db, Tx } from './database.ts';
import { toId16 } from './id16.ts';
import { updateAll } from './upsert.ts';

/** Facts about the whole cluster. Append-only. */
type ClusterFact =
  | 'rollupsSealedThrough'
  | 'startSkew'
  | 'clusterUid'
  | 'description'
  | 'zoneOffsets'
  | 'gaps'
  | 'templateKey'
  | 'otherInstallation'
  | 'unwatched'
  | `findings/${string}`;

/** Keeps one fact about the cluster; JSON values only. */
export async function putClusterState(tx: Tx, name: ClusterFact, value: unknown): Promise<void> {
  await insertRows(tx, {
    table: 'cluster_state',
    columns: ['name', 'value', 'updated_at'],
    rows: [[name, toJson(value), tx.now()]],
    tail: updateAll(tx.dialect, ['name'], ['value', 'updated_at']),
  });
}

/** The stored fact, or undefined. The caller checks its shape. */
export async function findClusterState(db: Db, name: ClusterFact): Promise<unknown> {
  const row = await firstRow(db, 'select value from cluster_state where name = ?', [name]);
  return fromJson(row?.['value']);
}

/** CronJobs in the namespaces that may be watched which no monitor selects. */
export interface UnwatchedCronJobs {
  readonly total: number;
  /** How many there are in each namespace that has any. */
  readonly byNamespace: Readonly<Record<string, number>>;
  /** The first thousand by namespace and name, as `namespace/name`. */
  readonly names: readonly string[];
  /** Of those that their owners have left out, which are none of the others: how many there are in each namespace. Absent: none. */
  readonly ignored?: Readonly<Record<string, number>>;
}

/** As the leader wrote them last; none before one did. */
export async function findUnwatched(db: Db): Promise<UnwatchedCronJobs> {
  const stored = (await findClusterState(db, 'unwatched')) as UnwatchedCronJobs | undefined;
  return stored ?? { total: 0, byNamespace: {}, names: [] };
}

/** Lint findings of the last check of one monitor and its CronJobs. */
interface MonitorFindings {
  readonly monitorUid: string;
  /** Worst first, at most so many as the leader keeps of a monitor. */
  readonly findings: readonly LintFinding[];
  /** How many there are besides. */
  readonly omitted: number;
}

/** Keeps what was found of a monitor, in place of what was found before. */
export async function putFindings(tx: Tx, { monitorUid, ...found }: MonitorFindings): Promise<void> {
  await putClusterState(tx, findingsOf(monitorUid), found);
}

export async function forgetFindings(tx: Tx, monitorUid: string): Promise<void> {
  await change(tx, 'delete from cluster_state where name = ?', [findingsOf(monitorUid)]);
}

/** Of each monitor, by its UID as rows of monitors have it; none before a leader wrote. */
export async function listFindings(db: Db): Promise<ReadonlyMap<string, Omit<MonitorFindings, 'monitorUid'>>> {
  const prefix = 'findings/';
  const found = await rows(db, 'select name, value from cluster_state where name like ?', [`${prefix}%`]);
  return new Map(
    found.map((row) => [
      String(row['name']).slice(prefix.length),
      fromJson(row['value']) as Omit<MonitorFindings, 'monitorUid'>, // written above
    ]),
  );
}

function findingsOf(monitorUid: string): `findings/${string}` {
  return `findings/${toId16(monitorUid)}`;
}
