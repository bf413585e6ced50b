import type { MessageSeverity, Ref } from '../../contract/index.ts';
import { dedupKeyOf, type FrozenMessage, type Instant, type MutableAlert, type RungFacts } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, firstRow, rows, type Row } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { newId } from '../id16.ts';
import { afterCause, keptMs } from './delivery-record.ts';
import { insertDelivery } from './insert-delivery.ts';
import { findStreamEnd } from './streams.ts';

/** What is asked when a message is due that waited for its turn after other channels. */
interface StoredRung extends Pick<RungFacts, 'told' | 'note'> {
  readonly alert: MutableAlert & { readonly monitor: Ref };
  /** Since when the channel waits for its turn: a rise makes its message anew, and its turn comes no later by that. */
  readonly waitsSinceAt: Instant;
}

/** Undefined: its alert is not kept any more. */
export async function findRung(
  db: Db,
  of: { readonly alertId: string; readonly channelUid: string },
): Promise<StoredRung | undefined> {
  const id = db.dialect.id16(of.alertId);
  const row = await firstRow(
    db,
    'select a.namespace, a.cronjob_name, a.type, a.severity, a.activated_at, m.namespace as monitor_namespace, m.name as monitor, ' +
      'k.by_whom, k.at as noted_at, k.expires_at, k.ended_at from alerts a left join monitors m on m.id = a.monitor_id ' +
      'left join acknowledgements k on k.alert_id = a.id where a.id = ?',
    [id],
  );
  if (row === undefined) return undefined;
  const activatedAt = Number(row['activated_at'] ?? 0);
  const told = await rows(
    db,
    'select channel_name, min(first_sent_at) as at from deliveries where alert_id = ? and channel_uid <> ? ' +
      "and kind not in ('closing', 'update') and created_at >= ? and first_sent_at is not null group by channel_name order by at, channel_name",
    [id, db.dialect.id16(of.channelUid), activatedAt],
  );
  const first = await firstRow(
    db,
    'select min(created_at) as at from deliveries where alert_id = ? and channel_uid = ? and created_at >= ?',
    [id, db.dialect.id16(of.channelUid), activatedAt],
  );
  return {
    alert: toRungAlert(of.alertId, row),
    waitsSinceAt: optionalNumber(first?.['at']) ?? db.now(),
    told: told.map((each) => ({ channel: String(each['channel_name']), at: Number(each['at']) })),
    note: toNote(row, activatedAt, db.now()),
  };
}

function toRungAlert(id: string, row: Row): StoredRung['alert'] {
  return {
    id,
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    type: String(row['type']),
    severity: String(row['severity']),
    monitor: { namespace: optionalText(row['monitor_namespace']) ?? '', name: optionalText(row['monitor']) ?? '' },
  };
}

/** A message that waits for its turn after other channels. */
interface WaitingRung extends Pick<StoredRung, 'alert' | 'waitsSinceAt'> {
  readonly channelName: string;
}

/** More are looked at when these are told. */
const mostWaiting = 1_000;

/** When the turn of a channel comes by what its monitor asks for now; undefined: it stays as it was written. */
type DueOf = (rung: WaitingRung) => Instant | undefined;

/** Moves those whose turn comes earlier now than when they were written. `readRules` is called where one waits at all. */
export async function hastenRungs(tx: Tx, readRules: () => Promise<DueOf>): Promise<void> {
  const found = await rows(
    tx,
    'select d.id, d.channel_name, d.next_at, d.alert_id, a.namespace, a.cronjob_name, a.type, a.severity, ' +
      'm.namespace as monitor_namespace, m.name as monitor, (select min(e.created_at) from deliveries e ' +
      'where e.alert_id = d.alert_id and e.channel_uid = d.channel_uid and e.created_at >= a.activated_at) as since ' +
      'from deliveries d join alerts a on a.id = d.alert_id join monitors m on m.id = a.monitor_id ' +
      `where d.state = 'ready' and d.state_reason = 'after' and d.next_at > ? order by d.next_at, d.id limit ${mostWaiting}`,
    [tx.now()],
  );
  if (found.length === 0) return;
  const dueOf = await readRules();
  for (const row of found) {
    const alert = toRungAlert(tx.dialect.id16Text(row['alert_id']), row);
    const dueAt = dueOf({ alert, channelName: String(row['channel_name']), waitsSinceAt: Number(row['since']) });
    // Few are edited while they wait.
    if (dueAt !== undefined && dueAt < Number(row['next_at']))
      await change(tx, "update deliveries set next_at = ? where id = ? and state = 'ready'", [dueAt, row['id']]);
  }
}

function toNote(row: Row, activatedAt: Instant, now: Instant): StoredRung['note'] {
  const byWhom = optionalText(row['by_whom']);
  if (byWhom === undefined || Number(row['noted_at']) < activatedAt) return undefined;
  const expiresAt = optionalNumber(row['expires_at']);
  const isInForce = row['ended_at'] === null && (expiresAt === undefined || expiresAt > now);
  return { byWhom, isInForce };
}

/** A message that is held when it is due is kept as long from then on as if it were new. */
export async function updateRungKept(tx: Tx, deliveryId: string, severity: MessageSeverity): Promise<void> {
  await change(tx, "update deliveries set expires_at = ? where id = ? and state = 'claimed'", [
    tx.now() + keptMs(severity),
    tx.dialect.id16(deliveryId),
  ]);
}

/** More are told with the next look. */
const mostAtOnce = 100;

/**
 * Alerts that were acknowledged as a later channel was due, and are no more while they hold still: that channel is due now. Returns how
 * many messages that makes.
 */
export async function tellUnacknowledged(tx: Tx): Promise<number> {
  const now = tx.now();
  const found = await rows(
    tx,
    'select d.alert_id, d.channel_uid, d.channel_name, d.stream_id, d.collapse_key, d.payload, a.severity, a.notify_no, a.cronjob_id ' +
      'from acknowledgements k join alerts a on a.id = k.alert_id join deliveries d on d.alert_id = a.id ' +
      'join channels c on c.uid = d.channel_uid and c.deleted_at is null ' +
      "where a.state = 'active' and (k.ended_at is not null or k.expires_at <= ?) and d.cause = ? and d.state = 'cancelled' " +
      'and d.created_at >= a.activated_at and d.payload is not null ' +
      // It was the note that cancelled it, and nothing was told or is due there since.
      'and d.ended_at >= k.at and d.ended_at <= coalesce(k.ended_at, k.expires_at) ' +
      'and not exists (select 1 from deliveries e where e.alert_id = d.alert_id and e.channel_uid = d.channel_uid and e.created_at >= a.activated_at ' +
      `and (e.created_at > d.created_at or (e.created_at = d.created_at and e.seq > d.seq))) order by d.id limit ${mostAtOnce}`,
    [now, afterCause],
  );
  let told = 0;
  for (const row of found) if (await tellRung(tx, row, now)) told++;
  return told;
}

async function tellRung(tx: Tx, row: Row, now: Instant): Promise<boolean> {
  const alertId = tx.dialect.id16Text(row['alert_id']);
  const channelUid = tx.dialect.id16Text(row['channel_uid']);
  const streamId = tx.dialect.id16Text(row['stream_id']);
  const severity = String(row['severity']) as MessageSeverity;
  const notifyNo = Number(row['notify_no']) + 1;
  const id = newId(now);
  const written = await insertDelivery(tx, {
    id,
    streamId,
    seq: (await findStreamEnd(tx, streamId, channelUid)).nextSeq,
    alertId,
    channel: { uid: channelUid, name: String(row['channel_name']) },
    kind: 'firing',
    cause: afterCause,
    severity,
    state: 'ready',
    dedupKey: dedupKeyOf({ alertId, kind: 'firing', notifyNo, channelUid }),
    collapseKey: optionalText(row['collapse_key']),
    notifyNo,
    nextAt: now,
    createdAt: now,
    expiresAt: now + keptMs(severity),
    payload: fromJson(row['payload']) as FrozenMessage, // as it was written
  });
  if (!written) return false;
  await change(tx, 'update alerts set notify_no = ? where id = ? and notify_no < ?', [
    notifyNo,
    row['alert_id'],
    notifyNo,
  ]);
  await recordDecisions(tx, [
    {
      action: 'queued',
      reason: 'unacknowledged',
      alertId,
      cronJobId: optionalNumber(row['cronjob_id']),
      deliveryId: id,
      channelUid,
    },
  ]);
  return true;
}
