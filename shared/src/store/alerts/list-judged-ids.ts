import type { AlertType } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { firstRow, marks, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';

/** CronJobs with a live alert, of one of these types where some are named: they are asked at each tick. */
export async function listCronJobsWithAlerts(db: Db, types: readonly AlertType[] = []): Promise<number[]> {
  const ofTypes = types.length === 0 ? '' : ` and type in (${marks(types)})`;
  const found = await rows(
    db,
    `select distinct cronjob_id from alerts where state in ('pending', 'active', 'suppressed')${ofTypes}`,
    types,
  );
  return found.map((row) => Number(row['cronjob_id']));
}

/** CronJobs of which a figure broke a promise when it was judged last. */
export async function listCronJobsWithBrokenTargets(db: Db): Promise<number[]> {
  const found = await rows(db, 'select id from cronjobs where broken is not null and deleted_at is null');
  return found.map((row) => Number(row['id']));
}

/** Which part of the CronJobs is meant: those whose id leaves one of these remainders. */
interface Share {
  readonly of: number;
  readonly remainders: readonly number[];
}

/** Every CronJob that a monitor selects, and those that something is still open about; of them a share, where one is named. */
export async function listCronJobsToJudge(db: Db, share?: Share): Promise<number[]> {
  const { of, remainders } = share ?? { of: 1, remainders: [] };
  const isOfShare = share ? ` and cronjob_id % ${Math.floor(of)} in (${marks(remainders)})` : '';
  const found = await rows(
    db,
    `select cronjob_id from monitor_targets where removed_at is null${isOfShare} union ` +
      `select cronjob_id from alerts where state in ('pending', 'active', 'suppressed')${isOfShare} order by 1`,
    [...remainders, ...remainders],
  );
  return found.map((row) => Number(row['cronjob_id']));
}

/** CronJobs with an alert that a silence keeps from being told, in whatever state. */
export async function listCronJobsSilenced(db: Db): Promise<number[]> {
  const found = await rows(
    db,
    "select distinct cronjob_id from alerts where (state = 'suppressed' and suppressed_by = 'silence') or (state = 'active' and due_at is not null)",
  );
  return found.map((row) => Number(row['cronjob_id']));
}

/** When a person last made, changed or ended a silence; undefined: never. */
export async function findSilencesChangedAt(db: Db): Promise<Instant | undefined> {
  return optionalNumber((await firstRow(db, 'select max(updated_at) as at from silences'))?.['at']);
}
