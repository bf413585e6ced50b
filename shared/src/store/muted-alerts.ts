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

/** The alerts that silences have held: their namespaces by id, by id of the silence. Undefined: the alert is gone. */
type MutedBySilence = ReadonlyMap<string, ReadonlyMap<string, string | undefined>>;

/** What each silence has held since `since`, as the ledger says; a silence that held nothing is absent. */
export async function listMutedBySilence(db: Db, since: Instant): Promise<MutedBySilence> {
  const found = await rows(
    db,
    'select d.detail, d.alert_id, a.namespace from alert_decisions d left join alerts a on a.id = d.alert_id ' +
      "where d.at >= ? and d.action in ('suppressed', 'held') and d.reason = 'silence' " +
      'and d.alert_id is not null and d.detail is not null',
    [since],
  );
  const muted = new Map<string, Map<string, string | undefined>>();
  for (const row of found) {
    const silenceId = String(row['detail']);
    const alerts = muted.get(silenceId) ?? new Map<string, string | undefined>();
    alerts.set(db.dialect.id16Text(row['alert_id']), optionalText(row['namespace']));
    muted.set(silenceId, alerts);
  }
  return muted;
}
