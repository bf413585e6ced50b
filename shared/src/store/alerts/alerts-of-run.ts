import type { Ref } from '../../contract/index.ts';
import { toAlertFacts, type AlertRecord } from '../../domain/index.ts';
import { change } from '../ask.ts';
import { noteMove } from '../changes.ts';
import { toJson } from '../column.ts';
import { cronJobIdsOf } from '../catalog/cron-job-ids.ts';
import type { Db, Tx } from '../database.ts';
import { toFaultColumns } from '../fault-columns.ts';
import { toId16 } from '../id16.ts';
import { quoted, rowsIn } from '../upsert.ts';
import { alertColumns, toAlertRecord } from './alert-record.ts';

/** A run, named by its Job. */
interface RunRef {
  readonly cronJobUid: string;
  readonly jobUid: string;
}

/** An alert with the monitor it belongs to, and the run that it speaks of. */
export interface AlertOfRun {
  readonly jobUid: string;
  readonly alert: AlertRecord;
  readonly monitor: Ref;
}

/** What is learned of a run later than this after its alert ended is kept with the run alone. */
const endedWithinMs = 3_600_000;

/**
 * The alerts that speak of these runs, oldest first: live ones and those that ended of late. Within a transaction that has locked their
 * CronJobs they stay as they are.
 */
export async function listAlertsOfRuns(db: Db, runs: readonly RunRef[]): Promise<AlertOfRun[]> {
  const cronJobUids = [...new Set(runs.map(({ cronJobUid }) => cronJobUid))];
  const ids = [...(await cronJobIdsOf(db, cronJobUids)).values()];
  const found = await rowsIn(
    db,
    ids,
    (marks) =>
      `select ${quoted(alertColumns, 'a')}, m.namespace as monitor_namespace, m.name as monitor_name from alerts a ` +
      `join monitors m on m.id = a.monitor_id where a.cronjob_id in (${marks}) and (a.state in ('pending', 'active', 'suppressed') ` +
      `or a.ended_at > ${db.now() - endedWithinMs}) order by a.detected_at, a.id`,
  );
  const wanted = new Map(runs.map(({ jobUid }) => [toId16(jobUid), jobUid]));
  return found.flatMap((row): AlertOfRun[] => {
    const alert = toAlertRecord(db, row);
    const about = toAlertFacts(alert.context).jobUid;
    const jobUid = about === undefined ? undefined : wanted.get(toId16(about));
    const monitor = { namespace: String(row['monitor_namespace']), name: String(row['monitor_name']) };
    return jobUid === undefined ? [] : [{ jobUid, alert, monitor }];
  });
}

/**
 * What is known of an alert's run, and whose fault it is where that is news; nothing else of the alert changes. The row of its CronJob is to
 * be locked before.
 */
export async function updateAlertContext(
  tx: Tx,
  alertId: string,
  { context, fault }: Pick<AlertRecord, 'context'> & Partial<Pick<AlertRecord, 'fault'>>,
): Promise<void> {
  noteMove(tx, { alertId });
  const id = tx.dialect.id16(toId16(alertId));
  await change(tx, 'update alerts set context = ? where id = ?', [toJson(context), id]);
  if (fault) await change(tx, 'update alerts set cause = ?, scope = ? where id = ?', [...toFaultColumns(fault), id]);
}
