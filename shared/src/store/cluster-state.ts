import { firstRow, insertRows } from './ask.ts';
import { fromJson, toJson } from './column.ts';
import type { Db, Tx } from './database.ts';
import { updateAll } from './upsert.ts';

/** What is known of the cluster as a whole. Append-only. */
export type ClusterFact =
  | 'rollupsSealedThrough'
  | 'startSkew'
  | 'clusterUid'
  | 'zoneOffsets'
  | 'gaps'
  | 'templateKey'
  | 'otherInstallation'
  | 'unwatched';

/** Keeps one fact about the cluster; JSON values only. */
export async function putClusterState(tx: Tx, name: ClusterFact, value: unknown): Promise<void> {
  await insertRows(tx, {
    table: 'cluster_state',
    columns: ['name', 'value', 'updated_at'],
    rows: [[name, toJson(value), tx.now()]],
    tail: updateAll(tx.dialect, ['name'], ['value', 'updated_at']),
  });
}

/** The fact as kept, or undefined. Who asks checks its shape. */
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
