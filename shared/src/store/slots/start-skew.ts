import type { Db } from '../database.ts';
import { findClusterState } from '../cluster-state.ts';

/**
 * How late the cluster starts its Jobs: the 99th percentile of the last hour as saved last, milliseconds; 0 when nothing was saved. Three
 * times as much is still in time.
 */
export async function findStartSkew(db: Db): Promise<number> {
  const saved = await findClusterState(db, 'startSkew');
  if (typeof saved !== 'object' || saved === null || !('p99Ms' in saved)) return 0;
  const { p99Ms } = saved;
  return typeof p99Ms === 'number' && p99Ms >= 0 ? p99Ms : 0;
}
