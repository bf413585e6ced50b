import { dayMs, type Instant, nearestRank } from '../../domain/index.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { listNewestOfEach } from '../bounded-reads.ts';
import { isCounted, isFailed, isScheduled, isSuccess } from '../words.ts';

/** The longest scheduled run of a window. */
export interface LongestRun {
  readonly durationMs: number;
  /** End of the first of these runs that took longer than the limit; undefined: none did. */
  readonly beyondSinceAt: Instant | undefined;
}

/**
 * The longest scheduled run of each CronJob that was created in this time and ended in success or failure. Runs left out of the SLA by a
 * maintenance window are left out here; a CronJob without a measured run is absent. `limitMs` is what a run may take; absent: any time.
 */
export async function measureLongestRuns(
  db: Db,
  cronJobIds: readonly number[],
  { from, to = Number.MAX_SAFE_INTEGER }: { readonly from: Instant; readonly to?: Instant },
  limitMs = Number.MAX_SAFE_INTEGER,
): Promise<ReadonlyMap<number, LongestRun>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select cronjob_id, max(duration_ms) as longest, min(case when duration_ms > ? then coalesce(finished_at, created_at) end) as beyond_at from executions where created_at >= ? and created_at < ? and cronjob_id in (${marks}) ` +
      `and (${isSuccess} or ${isFailed}) and ${isScheduled} and ${isCounted} and duration_ms is not null group by cronjob_id`,
    [limitMs, from, to],
  );
  return new Map(
    found.map((row) => [
      Number(row['cronjob_id']),
      { durationMs: Number(row['longest']), beyondSinceAt: optionalNumber(row['beyond_at']) },
    ]),
  );
}

/**
 * The longest counted run that failed, by CronJob and by the UTC day in which its Job was created: the figures of days have those that
 * succeeded. Days without one are absent.
 */
export async function measureLongestFailures(
  db: Db,
  cronJobIds: readonly number[],
  days: { readonly from: number; readonly to: number },
): Promise<ReadonlyMap<number, ReadonlyMap<number, number>>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select cronjob_id, created_at - created_at % ${dayMs} as day_at, max(duration_ms) as longest from executions ` +
      `where created_at >= ? and created_at < ? and cronjob_id in (${marks}) ` +
      `and ${isFailed} and ${isScheduled} and ${isCounted} and duration_ms is not null group by 1, 2`,
    [days.from * dayMs, (days.to + 1) * dayMs],
  );
  const ofEach = Map.groupBy(found, (row) => Number(row['cronjob_id']));
  return new Map(
    [...ofEach].map(([id, ofDay]) => [
      id,
      new Map(ofDay.map((row) => [Number(row['day_at']) / dayMs, Number(row['longest'])])),
    ]),
  );
}

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
