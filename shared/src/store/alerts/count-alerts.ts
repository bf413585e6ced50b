import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import type { ActiveAlert, Instant } from '../../domain/index.ts';
import { marks, rows, firstRow } from '../ask.ts';
import { optionalText, fromJson, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** Alerts in state active by the id of the monitor that raised them; one without any is absent. Of CronJobs in these namespaces, or in all. */
export async function countAlertsOfMonitors(
  db: Db,
  namespaces: readonly string[] = [],
): Promise<ReadonlyMap<number, number>> {
  const within = namespaces.length > 0 ? ` and namespace in (${marks(namespaces)})` : '';
  const found = await rows(
    db,
    `select monitor_id, count(*) as n from alerts where state = 'active'${within} group by monitor_id`,
    namespaces,
  );
  return new Map(found.map((row) => [Number(row['monitor_id']), Number(row['n'])]));
}

/** An alert that was active, as far as it is counted. */
export interface AlertStart {
  readonly monitorId: number;
  readonly cronJobId: number;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly sinceAt: Instant;
}

/** Alerts of these CronJobs that became active and began at `sinceAt` or later, open or over. */
export async function listAlertStarts(
  db: Db,
  cronJobIds: readonly number[],
  sinceAt: Instant,
): Promise<readonly AlertStart[]> {
  const columns = 'monitor_id, cronjob_id, type, subject, severity, since_at';
  const found = await rowsIn(
    db,
    cronJobIds,
    (within) =>
      `select ${columns} from alerts where cronjob_id in (${within}) and activated_at is not null and since_at >= ?`,
    [],
    [Math.floor(sinceAt)],
  );
  return found.map((row) => ({
    monitorId: Number(row['monitor_id']),
    cronJobId: Number(row['cronjob_id']),
    type: String(row['type']) as AlertType, // written from the same type
    subject: optionalText(row['subject']) as AlertSubject | undefined,
    severity: String(row['severity']) as Severity,
    sinceAt: Number(row['since_at']),
  }));
}

/** Open alerts by state. */
interface OpenAlerts {
  readonly active: number;
  readonly pending: number;
  readonly suppressed: number;
  /** Open ones that are acknowledged. */
  readonly acknowledged: number;
}

/** Of these namespaces, of all when none is given. */
export async function countOpenAlerts(db: Db, namespaces: readonly string[]): Promise<OpenAlerts> {
  const within = namespaces.length > 0 ? ` and a.namespace in (${marks(namespaces)})` : '';
  const isIn = (state: string): string => `sum(case when a.state = '${state}' then 1 else 0 end)`;
  const row = await firstRow(
    db,
    `select ${isIn('active')} as n_active, ${isIn('pending')} as n_pending, ${isIn('suppressed')} as n_suppressed, ` +
      'sum(case when k.alert_id is null then 0 else 1 end) as n_acknowledged ' +
      'from alerts a left join acknowledgements k on k.alert_id = a.id and k.ended_at is null ' +
      `where a.state in ('active', 'pending', 'suppressed')${within}`,
    namespaces,
  );
  const count = (name: string): number => Number(row?.[`n_${name}`] ?? 0);
  return {
    active: count('active'),
    pending: count('pending'),
    suppressed: count('suppressed'),
    acknowledged: count('acknowledged'),
  };
}

/** An alert that holds, as a monitor's status lists it. */
export interface AlertOfMonitor extends ActiveAlert {
  readonly cronJobId: number;
}

/** Alerts that a monitor raised on these CronJobs, in state active or suppressed: both count in its status (alerting.md section 2). */
export async function listAlertsOfMonitor(
  db: Db,
  monitorUid: string,
  cronJobIds: readonly number[],
): Promise<AlertOfMonitor[]> {
  if (cronJobIds.length === 0) return [];
  const found = await rows(
    db,
    'select a.cronjob_id, a.type, a.subject, a.severity, a.since_at, a.message, a.last_notified_at, a.context from alerts a ' +
      'join monitors m on m.id = a.monitor_id ' +
      `where m.uid = ? and a.state in ('active', 'suppressed') and a.cronjob_id in (${marks(cronJobIds)})`,
    [db.dialect.id16(monitorUid), ...cronJobIds],
  );
  return found.map((row) => {
    const context = fromJson(row['context']) as { readonly exitCode?: number; readonly reason?: string } | null;
    return {
      cronJobId: Number(row['cronjob_id']),
      type: String(row['type']) as AlertType,
      subject: optionalText(row['subject']) as AlertSubject | undefined,
      severity: String(row['severity']) as Severity,
      sinceAt: Number(row['since_at']),
      message: String(row['message']),
      lastNotifiedAt: optionalNumber(row['last_notified_at']),
      exitCode: context?.exitCode,
      reason: context?.reason,
    };
  });
}

/** How many alerts a monitor has in state active or suppressed. */
export async function countAlertsOfMonitor(db: Db, monitorUid: string): Promise<number> {
  const [row] = await rows(
    db,
    "select count(*) as n from alerts a join monitors m on m.id = a.monitor_id where m.uid = ? and a.state in ('active', 'suppressed')",
    [db.dialect.id16(monitorUid)],
  );
  return Number(row?.['n'] ?? 0);
}
