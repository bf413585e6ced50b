import type { AlertRecord } from '../../domain/index.ts';
import { marks, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { quoted } from '../upsert.ts';
import { alertColumns, toAlertRecord } from './alert-record.ts';

/** The alerts of these CronJobs that began last, open or over, with all that decides about their next move. */
export async function listLastAlerts(
  db: Db,
  cronJobIds: readonly number[],
  limit: number,
): Promise<readonly AlertRecord[]> {
  if (cronJobIds.length === 0) return [];
  const found = await rows(
    db,
    `select ${quoted(alertColumns)} from alerts where cronjob_id in (${marks(cronJobIds)}) ` +
      `order by case when live_key is null then 1 else 0 end, detected_at desc, id desc limit ${limit}`,
    [...cronJobIds],
  );
  return found.map((row) => toAlertRecord(db, row));
}
