import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { marks, rows } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { toId16 } from '../id16.ts';

/** An alert that holds, as a monitor's status lists it. */
export interface AlertOfMonitor {
  readonly cronJobId: number;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly sinceAt: Instant;
  readonly message: string;
  readonly lastNotifiedAt: Instant | undefined;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
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
    [db.dialect.id16(toId16(monitorUid)), ...cronJobIds],
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
    [db.dialect.id16(toId16(monitorUid))],
  );
  return Number(row?.['n'] ?? 0);
}
