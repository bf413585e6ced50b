import type { Instant } from '../../domain/index.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { isCounted, isFailed, isScheduled, isSuccess } from './run-conditions.ts';

/** The longest scheduled run of a window. */
export interface LongestRun {
  readonly durationMs: number;
}

/**
 * The longest scheduled run of each CronJob that was created since `from` and ended in success or failure. Runs left out of the SLA by a
 * maintenance window are left out here; a CronJob without a measured run is absent.
 */
export async function measureLongestRuns(
  db: Db,
  cronJobIds: readonly number[],
  from: Instant,
): Promise<ReadonlyMap<number, LongestRun>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select cronjob_id, max(duration_ms) as longest from executions where created_at >= ? and cronjob_id in (${marks}) ` +
      `and (${isSuccess} or ${isFailed}) and ${isScheduled} and ${isCounted} and duration_ms is not null group by cronjob_id`,
    [from],
  );
  return new Map(found.map((row) => [Number(row['cronjob_id']), { durationMs: Number(row['longest']) }]));
}
