import { type Instant, nearestRank } from '../../domain/index.ts';
import type { Db } from '../database.ts';
import { isScheduled, isSuccess, listNewestOfEach } from './read-any-of.ts';

/** Percentiles of the last durations, nearest rank, milliseconds. */
export interface LastDurations {
  /** How many runs they are made of: fewer than asked when there are no more. */
  readonly runs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/**
 * Durations of the last `count` successful scheduled runs of each CronJob, by end: the dead-man's switch asks for 20, a run that takes too
 * long is measured by 100. A CronJob without any is absent. `beforeAt`: only of runs that ended earlier.
 */
export async function measureLastDurations(
  db: Db,
  cronJobIds: readonly number[],
  count: number,
  beforeAt: Instant = Infinity,
): Promise<ReadonlyMap<number, LastDurations>> {
  const ended = beforeAt === Infinity ? 'finished_at is not null' : `finished_at < ${Math.floor(beforeAt)}`;
  const found = await listNewestOfEach(db, cronJobIds, [
    {
      select: 'duration_ms',
      where: `${isSuccess} and ${ended} and ${isScheduled} and duration_ms is not null`,
      orderBy: 'finished_at',
      limit: count,
    },
  ]);
  const durations = new Map<number, LastDurations>();
  for (const [id, ofOne] of Map.groupBy(found, (row) => Number(row['cronjob_id']))) {
    const rising = ofOne.map((row) => Number(row['duration_ms'])).sort((a, b) => a - b);
    const at = (p: number): number => nearestRank(rising, p) ?? 0;
    durations.set(id, { runs: rising.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) });
  }
  return durations;
}
