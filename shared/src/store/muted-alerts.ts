import type { Instant, MutableAlert } from '../domain/index.ts';
import { rows } from './ask.ts';
import { optionalText } from './column.ts';
import type { Db } from './database.ts';

/** Every live alert, as far as a silence is asked about it. */
export async function listMutableAlerts(db: Db): Promise<MutableAlert[]> {
  const found = await rows(
    db,
    'select a.id, a.namespace, a.cronjob_name, a.type, a.severity, m.namespace as monitor_namespace, m.name as monitor_name ' +
      "from alerts a left join monitors m on m.id = a.monitor_id where a.state in ('pending', 'active', 'suppressed') order by a.id",
  );
  return found.map((row) => ({
    id: db.dialect.id16Text(row['id']),
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    type: String(row['type']),
    severity: String(row['severity']),
    // The row of a monitor stays as long as an alert refers to it.
    monitor: { namespace: optionalText(row['monitor_namespace']) ?? '', name: optionalText(row['monitor_name']) ?? '' },
  }));
}

/** Ids of the alerts that each silence has held since `since`, by id of the silence, as the ledger says; a silence without any is absent. */
export async function listMutedBySilence(db: Db, since: Instant): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = await rows(
    db,
    "select detail, alert_id from alert_decisions where at >= ? and action in ('suppressed', 'held') and reason = 'silence' " +
      'and alert_id is not null and detail is not null',
    [since],
  );
  const muted = new Map<string, Set<string>>();
  for (const row of found) {
    const silenceId = String(row['detail']);
    const alerts = muted.get(silenceId) ?? new Set<string>();
    alerts.add(db.dialect.id16Text(row['alert_id']));
    muted.set(silenceId, alerts);
  }
  return muted;
}
