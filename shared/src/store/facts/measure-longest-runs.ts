import type { Instant } from '../../domain/index.ts';
import { rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { isCounted, isFailed, isScheduled, isSuccess } from './run-conditions.ts';

/** The longest scheduled run of a window. */
export interface LongestRun {
  readonly durationMs: number;
  /** End of the first of these runs that took longer than the limit; undefined: none did. */
  readonly beyondSinceAt: Instant | undefined;
}

/**
 * The longest scheduled run of each CronJob that was created since `from` and ended in success or failure. Runs left out of the SLA by a
 * maintenance window are left out here; a CronJob without a measured run is absent. `limitMs` is what a run may take; absent: any time.
 */
export async function measureLongestRuns(
  db: Db,
  cronJobIds: readonly number[],
  from: Instant,
  limitMs = Number.MAX_SAFE_INTEGER,
): Promise<ReadonlyMap<number, LongestRun>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select cronjob_id, max(duration_ms) as longest, min(case when duration_ms > ? then coalesce(finished_at, created_at) end) as beyond_at from executions where created_at >= ? and cronjob_id in (${marks}) ` +
      `and (${isSuccess} or ${isFailed}) and ${isScheduled} and ${isCounted} and duration_ms is not null group by cronjob_id`,
    [limitMs, from],
  );
  return new Map(
    found.map((row) => [
      Number(row['cronjob_id']),
      { durationMs: Number(row['longest']), beyondSinceAt: optionalNumber(row['beyond_at']) },
    ]),
  );
}

/**
 * The longest counted run of each CronJob since the UTC day `fromDay`, by the figures of days; a CronJob without one is absent. One statement
 * for a whole fleet: no percentile of these days is longer.
 */
export async function measureLongestOfDays(db: Db, fromDay: number): Promise<ReadonlyMap<number, number>> {
  const found = await rows(
    db,
    // The index of days begins with `dirty`.
    'select cronjob_id, max(duration_max) as longest from rollups where dirty in (0, 1) and day >= ? ' +
      'and duration_max is not null group by cronjob_id',
    [fromDay],
  );
  return new Map(found.map((row) => [Number(row['cronjob_id']), Number(row['longest'])]));
}
