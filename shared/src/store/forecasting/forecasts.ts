import type { RiskLevel } from '../../contract/index.ts';
import type { Instant, Night } from '../../domain/index.ts';
import { change, firstRow, inParts, insertRows, marks, rows } from '../ask.ts';
import type { Db, Tx } from '../database.ts';
import { isGroup } from '../catalog/cron-job-filter.ts';
import { isCounted, isFailed, isScheduled, outcomeWords } from '../words.ts';

/** That a run of a CronJob may end badly in a night. */
export interface Forecast {
  readonly cronJobId: number;
  readonly code: string;
  readonly level: RiskLevel;
}

/** How well nights were foreseen. A CronJob counts once in a night. */
export interface ForecastScore {
  readonly nights: number;
  /** With a failed or missed run. */
  readonly failures: number;
  /** Of these, with a forecast. */
  readonly foreseen: number;
  /** Likely to fail, and nothing did. */
  readonly false: number;
}

/** The row of the night itself: without it there was no forecast, which differs from one in which nothing was at risk. */
const ofNight = { cronJobId: 0, code: 'night' };
const columns = ['night_at', 'cronjob_id', 'code', 'level'] as const;

/** Stores the forecasts of a night from `keptAt` on. False: forecasts of the night are stored already, and stay. */
export async function keepForecasts(
  tx: Tx,
  { nightAt, keptAt }: { readonly nightAt: Instant; readonly keptAt: Instant },
  forecasts: readonly Forecast[],
): Promise<boolean> {
  const kept = await firstRow(tx, 'select 1 as n from forecasts where night_at = ? and cronjob_id = 0', [nightAt]);
  if (kept) return false;
  await insertRows(tx, {
    table: 'forecasts',
    columns: [...columns, 'kept_at'],
    rows: [
      [nightAt, ofNight.cronJobId, ofNight.code, null, keptAt],
      ...forecasts.map(({ cronJobId, code, level }) => [nightAt, cronJobId, code, level, null]),
    ],
  });
  return true;
}

/** When the nights began that are kept and not judged, of those that began at `since` or later. */
export async function listUnjudgedNights(db: Db, since: Instant): Promise<Instant[]> {
  const found = await rows(
    db,
    'select night_at from forecasts where night_at >= ? and cronjob_id = 0 and outcome is null order by night_at',
    [since],
  );
  return found.map((row) => Number(row['night_at']));
}

/**
 * Writes what came of the forecasts of a night that is over, by what is known now; what failed before they were made is left out. False: none
 * was kept, or they were judged before.
 */
export async function judgeForecasts(tx: Tx, { fromAt, untilAt }: Night): Promise<boolean> {
  const night = await firstRow(
    tx,
    'select kept_at from forecasts where night_at = ? and cronjob_id = 0 and outcome is null',
    [fromAt],
  );
  if (!night) return false;
  await change(tx, "update forecasts set outcome = 'judged' where night_at = ? and cronjob_id = 0", [fromAt]);
  const failed = await listFailed(tx, Number(night['kept_at']), untilAt);
  const found = await rows(tx, 'select distinct cronjob_id from forecasts where night_at = ?', [fromAt]);
  const foreseen = new Set(found.map((row) => Number(row['cronjob_id'])));
  await change(tx, "update forecasts set outcome = 'well' where night_at = ? and cronjob_id <> 0", [fromAt]);
  for (const ids of inParts(failed.filter((id) => foreseen.has(id))))
    await change(tx, `update forecasts set outcome = 'failed' where night_at = ? and cronjob_id in (${marks(ids)})`, [
      fromAt,
      ...ids,
    ]);
  await insertRows(tx, {
    table: 'forecasts',
    columns: [...columns, 'outcome'],
    rows: failed.filter((id) => !foreseen.has(id)).map((id) => [fromAt, id, 'none', null, 'failed']),
  });
  return true;
}

/**
 * CronJobs with a scheduled run of this time that failed or was missed. What maintenance covers is no failure, and groups of Jobs have no
 * schedule by which one could be foreseen.
 */
async function listFailed(tx: Tx, from: Instant, until: Instant): Promise<number[]> {
  const found = await rows(
    tx,
    `select f.cronjob_id from (select cronjob_id from executions where created_at >= ? and created_at < ? and ${isFailed} ` +
      `and ${isScheduled} and ${isCounted} union select cronjob_id from slots where slot_at >= ? and slot_at < ? and outcome = ? ` +
      `and in_maintenance = 0) f join cronjobs c on c.id = f.cronjob_id where not (${isGroup('c')})`,
    [from, until, from, until, outcomeWords.toNumber('missed')],
  );
  return found.map((row) => Number(row['cronjob_id']));
}

/** Of the judged nights that began at `since` or later; of the CronJobs of these namespaces alone unless there is none. */
export async function scoreForecasts(db: Db, since: Instant, namespaces: readonly string[]): Promise<ForecastScore> {
  const nights = await firstRow(
    db,
    "select count(*) as n from forecasts where night_at >= ? and cronjob_id = 0 and outcome = 'judged'",
    [since],
  );
  const within =
    namespaces.length === 0
      ? ''
      : ` and cronjob_id in (select id from cronjobs where namespace in (${marks(namespaces)}))`;
  const row = await firstRow(
    db,
    'select sum(failed) as failures, sum(failed * foreseen) as foreseen, sum((1 - failed) * likely) as wrong from (' +
      "select max(case when outcome = 'failed' then 1 else 0 end) as failed, " +
      "max(case when code <> 'none' then 1 else 0 end) as foreseen, " +
      "max(case when level = 'likely' then 1 else 0 end) as likely from forecasts " +
      `where night_at >= ? and cronjob_id <> 0 and outcome is not null${within} group by night_at, cronjob_id) g`,
    [since, ...namespaces],
  );
  return {
    nights: Number(nights?.['n'] ?? 0),
    failures: Number(row?.['failures'] ?? 0),
    foreseen: Number(row?.['foreseen'] ?? 0),
    false: Number(row?.['wrong'] ?? 0),
  };
}

/** Removes what was foreseen of nights of before `before`. */
export async function forgetForecasts(tx: Tx, before: Instant, limit: number): Promise<number> {
  return change(tx, tx.dialect.deleteBatch({ table: 'forecasts', where: 'night_at < ?', limit }), [before]);
}
