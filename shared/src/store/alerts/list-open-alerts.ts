import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { fromJson, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** An open alert as far as a list of CronJobs shows it. */
export interface OpenAlert {
  readonly id: string;
  readonly cronJobId: number;
  readonly state: 'active' | 'suppressed';
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly sinceAt: Instant;
  readonly count: number;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
  readonly measured: number | undefined;
  readonly limit: number | undefined;
  readonly unit: string | undefined;
}

/** Figures and context of an alert, as whoever raised it wrote them. */
interface Facts {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly measured?: number;
  readonly limit?: number;
  readonly unit?: string;
}

/** Alerts of these CronJobs in state active or suppressed: worst first, then the one that has lasted longest. */
export async function listOpenAlerts(db: Db, cronJobIds: readonly number[]): Promise<OpenAlert[]> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      'select id, cronjob_id, state, type, subject, severity, since_at, count, figures, context from alerts ' +
      `where state in ('active', 'suppressed') and cronjob_id in (${marks}) ` +
      "order by case severity when 'critical' then 0 else 1 end, since_at, id",
  );
  return found.map((row) => {
    const facts = { ...(fromJson(row['context']) as Facts), ...(fromJson(row['figures']) as Facts) };
    return {
      id: db.dialect.id16Text(row['id']),
      cronJobId: Number(row['cronjob_id']),
      state: String(row['state']) as OpenAlert['state'],
      type: String(row['type']) as AlertType,
      subject: optionalText(row['subject']) as AlertSubject | undefined,
      severity: String(row['severity']) as Severity,
      sinceAt: Number(row['since_at']),
      count: Number(row['count']),
      exitCode: facts.exitCode,
      reason: facts.reason,
      measured: facts.measured,
      limit: facts.limit,
      unit: facts.unit,
    };
  });
}
