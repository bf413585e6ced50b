import type { Store } from '@cronjob-monitor/shared/store';

/** One thing the service said of the cluster. */
export interface Verdict {
  /** Monitor, UID of the CronJob, alert type and subject. */
  readonly identity: string;
  /** Of what disappeared its namespace and name: which of its objects was there is not known to all. So of a group, which is no object. */
  readonly cronJobUid: string;
  readonly monitor: string;
  readonly type: string;
  readonly subject: string;
  /** The run's end, or the instant of time alone, that opened it. */
  readonly openedAt: number;
  /** How it ended, and by which run; `open`: it has not. */
  readonly ended: string;
  readonly endedAt: number | undefined;
  readonly isTold: boolean;
}

interface AlertRow {
  readonly id: unknown;
  readonly monitor: string;
  readonly cronjob: string;
  readonly namespace: string;
  readonly cronjob_name: string;
  readonly type: string;
  readonly subject: string | null;
  readonly state: string;
  readonly since_at: unknown;
  readonly ended_at: unknown;
  readonly close_cause: string | null;
}

/** Every alert in the database, as far as it must not depend on who looked. Read with plain SQL. */
export async function readVerdicts(store: Store): Promise<Verdict[]> {
  const { sql } = store;
  const alerts: AlertRow[] = await sql('alerts')
    .join('monitors', 'monitors.id', 'alerts.monitor_id')
    .join('cronjobs', 'cronjobs.id', 'alerts.cronjob_id')
    .select(
      'alerts.id',
      sql.raw(
        store.dialect.name === 'mysql'
          ? "concat(monitors.namespace, '/', monitors.name) as monitor"
          : "monitors.namespace || '/' || monitors.name as monitor",
      ),
      'cronjobs.uid_text as cronjob',
      'alerts.namespace',
      'alerts.cronjob_name',
      'alerts.type',
      'alerts.subject',
      'alerts.state',
      'alerts.since_at',
      'alerts.ended_at',
      'alerts.close_cause',
    );
  const sent: { alert_id: unknown }[] = await sql('deliveries')
    .select('alert_id')
    .whereIn('state', ['sent', 'digested', 'collapsed']);
  const told = new Set(sent.map(({ alert_id }) => idText(alert_id)));
  const ends: { alert_id: unknown; detail: string | null; reason: string | null }[] = await sql('alert_decisions')
    .select('alert_id', 'detail', 'reason')
    .whereIn('action', ['resolved', 'cancelled', 'expired'])
    .whereNull('delivery_id')
    .orderBy('id');
  const endOf = new Map(ends.map(({ alert_id, detail, reason }) => [idText(alert_id), detail ?? reason ?? '']));
  return alerts.map((row) => {
    const isOver = row.ended_at !== null;
    const by = isOver ? (endOf.get(idText(row.id)) ?? '') : '';
    const isNamed = row.subject === 'disappeared' || row.cronjob_name.startsWith('~');
    const cronJob = isNamed ? `${row.namespace}/${row.cronjob_name}` : row.cronjob;
    return {
      identity: `${row.monitor} ${cronJob} ${row.type}${row.subject ? `/${row.subject}` : ''}`,
      cronJobUid: cronJob,
      monitor: row.monitor,
      type: row.type,
      subject: row.subject ?? '',
      openedAt: Number(row.since_at),
      ended: isOver ? `${row.state}${row.close_cause ? ` ${row.close_cause}` : ''}${by ? ` by ${by}` : ''}` : 'open',
      endedAt: isOver ? Number(row.ended_at) : undefined,
      isTold: told.has(idText(row.id)),
    };
  });
}

function idText(id: unknown): string {
  return Buffer.isBuffer(id) ? id.toString('hex') : String(id);
}
