import { dayMs, type Instant } from '../../domain/index.ts';
import { rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { isCounted, isFailed, isScheduled, isSuccess } from './read-any-of.ts';

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

/** Above so many the figures of days are read of the whole fleet: cheaper than naming each. */
const mostNamed = 500;

/**
 * The longest counted run of each of these CronJobs since the UTC day `fromDay`, by the figures of days: no percentile of these days is longer.
 * One without such a run is absent. Where many are named others are in the answer too.
 */
export async function measureLongestOfDays(
  db: Db,
  cronJobIds: readonly number[],
  fromDay: number,
): Promise<ReadonlyMap<number, number>> {
  const toSql = (condition: string): string =>
    'select cronjob_id, max(duration_max) as longest from rollups where day >= ? and duration_max is not null ' +
    `and ${condition} group by cronjob_id`;
  const found =
    cronJobIds.length > mostNamed
      ? await rows(db, toSql('dirty in (0, 1)'), [fromDay]) // the index of days begins with `dirty`
      : await rowsIn(db, cronJobIds, (marks) => toSql(`cronjob_id in (${marks})`), [fromDay]);
  return new Map(found.map((row) => [Number(row['cronjob_id']), Number(row['longest'])]));
}
