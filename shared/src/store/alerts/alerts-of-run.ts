import type { Ref } from '../../contract/index.ts';
import { type AlertRecord, hourMs, toAlertFacts } from '../../domain/index.ts';
import { noteMove } from '../changes.ts';
import { toJson } from '../column.ts';
import { cronJobIdsOf } from '../catalog/cron-job-ids.ts';
import type { Db, Tx } from '../database.ts';
import { faultColumns, toFaultColumns } from '../fault-columns.ts';
import { toId16 } from '../id16.ts';
import { quoted, rowsIn, updateRows } from '../upsert.ts';
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

/** Evidence of a run that comes later than this after its alert ended is stored with the run alone. */
const endedWithinMs = hourMs;

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
      'or a.ended_at > ?) order by a.detected_at, a.id',
    [],
    [db.now() - endedWithinMs],
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

/** Facts of an alert's run; `fault`: the fault, where it is news. */
interface AlertContextUpdate extends Pick<AlertRecord, 'id' | 'context'> {
  readonly fault: AlertRecord['fault'];
}

/** Changes only context and fault. The caller has locked the rows of the CronJobs. */
export async function updateAlertContexts(tx: Tx, updates: readonly AlertContextUpdate[]): Promise<void> {
  for (const { id: alertId } of updates) noteMove(tx, { alertId });
  const keyOf = ({ id }: AlertContextUpdate): unknown => tx.dialect.id16(id);
  const alerts = { table: 'alerts', key: 'id' };
  const contexts = updates.map((update) => [keyOf(update), toJson(update.context)] as const);
  await updateRows(tx, { ...alerts, columns: { context: 'longText' }, rows: contexts });
  const faults = updates.filter(({ fault }) => fault !== undefined);
  const blamed = faults.map((update) => [keyOf(update), ...toFaultColumns(update.fault)] as const);
  await updateRows(tx, { ...alerts, columns: faultColumns, rows: blamed });
}
