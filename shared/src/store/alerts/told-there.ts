import type { MessageSeverity } from '../../contract/index.ts';
import type { AlertFinding, AlertRecord, Instant } from '../../domain/index.ts';
import { change, type Row } from '../ask.ts';
import { fromJson, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { noteMove } from '../changes.ts';
import { quoted, rowsIn } from '../upsert.ts';
import { alertColumns, toAlertRecord } from './alert-record.ts';

/** That a receiver with silences of its own keeps an alert from people, by channel. */
export type MutedThere = Readonly<Record<string, { readonly says: string; readonly untilAt: Instant | null }>>;

/** An alert that a channel was told of, with the values to send it again. */
export interface AlertToldThere extends Pick<AlertFinding, 'monitor' | 'cronJob'> {
  readonly alert: AlertRecord;
  readonly mutedThere: MutedThere;
  /** Messages with which the channel was told, the newest last. */
  readonly toldWith: readonly ToldWith[];
}

/** The changeable part of the fields by which a receiver identifies an alert. */
interface ToldWith {
  readonly severity: MessageSeverity;
  /** Null: none. Undefined: that of now. */
  readonly owner: string | null | undefined;
  readonly at: Instant;
}

const selected =
  `select ${quoted(alertColumns, 'a')}, a.muted_there, m.uid as monitor_uid, m.namespace as monitor_namespace, m.name as monitor_name, ` +
  'c.uid as cronjob_uid from alerts a join monitors m on m.id = a.monitor_id join cronjobs c on c.id = a.cronjob_id';

/** An alert with what its messages name. */
type ToldAlert = Pick<AlertToldThere, 'alert' | 'monitor' | 'cronJob'>;

/** These alerts as they are now, by id. */
export async function listAlertsAsTold(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, ToldAlert>> {
  const found = await rowsIn(
    db,
    ids.map((id) => db.dialect.id16(id)),
    (marks) => `${selected} where a.id in (${marks})`,
  );
  return new Map(found.map((row) => [db.dialect.id16Text(row['id']), toToldAlert(db, row)]));
}

function toToldAlert(db: Db, row: Row): ToldAlert {
  const alert = toAlertRecord(db, row);
  const { namespace, cronJobName: name } = alert;
  const monitor = { namespace: String(row['monitor_namespace']), name: String(row['monitor_name']) };
  return {
    alert,
    monitor: { id: alert.monitorId, uid: db.dialect.id16Text(row['monitor_uid']), ...monitor },
    cronJob: { id: alert.cronJobId, uid: db.dialect.id16Text(row['cronjob_uid']), namespace, name },
  };
}

/**
 * The active alerts, and those that ended after `endedAfter`, of which the channel was told: by a message of its own, by that of another
 * monitor, or in a digest. Oldest first.
 */
export async function listToldThere(
  db: Db,
  { channelUid, endedAfter }: { readonly channelUid: string; readonly endedAfter: Instant },
): Promise<AlertToldThere[]> {
  const found = await rowsIn(
    db,
    ['active'],
    (state) => `${selected} where a.state in (${state}) or a.ended_at > ${endedAfter} order by a.detected_at, a.id`,
  );
  const told = await listToldWith(
    db,
    channelUid,
    found.map((row) => row['id']),
  );
  return found.flatMap((row) => {
    const toldWith = told.get(db.dialect.id16Text(row['id']));
    if (toldWith === undefined) return [];
    return [{ ...toToldAlert(db, row), mutedThere: toMutedThere(row['muted_there']), toldWith }];
  });
}

/** Of the messages that arrived, a merged one with the one that it was merged into: by alert, oldest first. */
async function listToldWith(
  db: Db,
  channelUid: string,
  alertIds: readonly unknown[],
): Promise<ReadonlyMap<string, AlertToldThere['toldWith']>> {
  const found = await rowsIn(
    db,
    alertIds,
    (marks) =>
      'select d.alert_id, d.severity, coalesce(m.ended_at, d.ended_at) as at, coalesce(m.progress, d.progress) as progress from deliveries d ' +
      `left join deliveries m on m.id = d.merged_into where d.channel_uid = ? and d.alert_id in (${marks}) ` +
      "and d.kind in ('firing', 'reminder', 'flapping') and coalesce(m.state, d.state) = 'sent' order by at, d.seq",
    [db.dialect.id16(channelUid)],
  );
  const told = new Map<string, ToldWith[]>();
  for (const row of found) {
    const id = db.dialect.id16Text(row['alert_id']);
    const { owner } = (fromJson(row['progress']) ?? {}) as Partial<ToldWith>; // of an Alertmanager, as its sender left it
    const one = { severity: String(row['severity']) as MessageSeverity, owner, at: Number(row['at']) };
    told.set(id, [...(told.get(id) ?? []), one]);
  }
  return told;
}

/** As `updateMutedThere` wrote it. */
export function toMutedThere(stored: unknown): MutedThere {
  return (fromJson(stored) ?? {}) as MutedThere;
}

/** Stores the receivers' answers about an alert. The caller has locked the row of the CronJob. */
export async function updateMutedThere(tx: Tx, alertId: string, muted: MutedThere): Promise<void> {
  noteMove(tx, { alertId });
  const stored = Object.keys(muted).length === 0 ? null : toJson(muted);
  await change(tx, 'update alerts set muted_there = ? where id = ?', [stored, tx.dialect.id16(alertId)]);
}
