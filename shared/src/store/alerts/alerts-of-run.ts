import type { Ref } from '../../contract/index.ts';
import { toAlertFacts } from '../../domain/index.ts';
import { change } from '../ask.ts';
import { toJson } from '../column.ts';
import { cronJobIdsOf } from '../catalog/cron-job-ids.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { quoted, rowsIn } from '../upsert.ts';
import { alertColumns, toAlertRecord, type AlertRecord } from './alert-record.ts';

/** A run, named by its Job. */
export interface RunRef {
  readonly cronJobUid: string;
  readonly jobUid: string;
}

/** A live alert with the monitor it belongs to, and the run it speaks of. */
export interface AlertOfRun {
  readonly jobUid: string;
  readonly alert: AlertRecord;
  readonly monitor: Ref;
}

/** The live alerts that speak of these runs, oldest first. Within a transaction that has locked their CronJobs they stay as they are. */
export async function listAlertsOfRuns(db: Db, runs: readonly RunRef[]): Promise<AlertOfRun[]> {
  const cronJobUids = [...new Set(runs.map(({ cronJobUid }) => cronJobUid))];
  const ids = [...(await cronJobIdsOf(db, cronJobUids)).values()];
  const found = await rowsIn(
    db,
    ids,
    (marks) =>
      `select ${quoted(alertColumns, 'a')}, m.namespace as monitor_namespace, m.name as monitor_name from alerts a ` +
      `join monitors m on m.id = a.monitor_id where a.cronjob_id in (${marks}) and a.state in ('pending', 'active', 'suppressed') ` +
      'order by a.detected_at, a.id',
  );
  const wanted = new Map(runs.map(({ jobUid }) => [toId16(jobUid), jobUid]));
  return found.flatMap((row) => {
    const alert = toAlertRecord(db, row);
    const about = toAlertFacts(alert.context).jobUid;
    const monitor = { namespace: String(row['monitor_namespace']), name: String(row['monitor_name']) };
    const jobUid = about === undefined ? undefined : wanted.get(toId16(about));
    return jobUid === undefined ? [] : [{ jobUid, alert, monitor }];
  });
}

/** What is known of an alert's run; nothing else of the alert changes. The row of its CronJob is to be locked before. */
export async function updateAlertContext(tx: Tx, alertId: string, context: unknown): Promise<void> {
  await change(tx, 'update alerts set context = ? where id = ?', [toJson(context), tx.dialect.id16(toId16(alertId))]);
}
