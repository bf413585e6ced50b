import type { DeliveryState, MessageSeverity } from '../../contract/index.ts';
import { dayMs, dedupKeyOf, type FrozenMessage, type Instant } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, firstRow, rows, type Row } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Tx } from '../database.ts';
import { newId } from '../id16.ts';
import { firstNoticeCause, keptMs } from './delivery-record.ts';
import { insertDelivery } from './insert-delivery.ts';
import { findStreamEnd } from './streams.ts';

/** A message that a receiver refuses for good is told anew no more often than this. */
const refusedEveryMs = dayMs;
/** Alerts beyond so many are told with later looks, while the channel delivers. */
const mostRetold = 200;

/** What the message is told anew with: the frozen one, that it was held, and which decision to tell it is. */
type RetellMessage = (
  frozen: FrozenMessage,
  of: { readonly notification: number; readonly heldMs: number },
) => FrozenMessage;

/**
 * A channel delivers again: tells it anew of every active alert whose last message to it is dead, and of every one that has ended and whose
 * only message, about its beginning and its end, is. `asks`: it is not known to; one message asks it, unless one waits there. Returns how many.
 */
export async function retellDead(tx: Tx, channelUid: string, word: RetellMessage, asks = false): Promise<number> {
  const uid = tx.dialect.id16(channelUid);
  const channel = await firstRow(tx, 'select name from channels where uid = ? and deleted_at is null', [uid]);
  if (channel === undefined) return 0;
  const waits = "select id from deliveries where channel_uid = ? and state in ('ready', 'claimed', 'parked') limit 1";
  if (asks && (await firstRow(tx, waits, [uid])) !== undefined) return 0;
  const candidates = await rows(
    tx,
    'select distinct d.alert_id from deliveries d join alerts a on a.id = d.alert_id ' +
      "left join deliveries m on m.id = d.merged_into where d.channel_uid = ? and coalesce(m.state, d.state) = 'dead' " +
      `and (d.state = 'dead' or m.state = 'dead') and ((d.kind <> 'closing' and a.state = 'active') or d.cause = ?) ` +
      `order by d.alert_id limit ${mostRetold}`,
    [uid, firstNoticeCause],
  );
  let retold = 0;
  for (const { alert_id: alertId } of candidates) {
    if (asks && retold > 0) break;
    // The lock on each row shows what another transaction has told meanwhile.
    if (await retellAlert(tx, { alertId, uid, channelUid, name: String(channel['name']), word })) retold++;
  }
  return retold;
}

interface Retelling {
  readonly alertId: unknown;
  readonly uid: unknown;
  readonly channelUid: string;
  readonly name: string;
  readonly word: RetellMessage;
}

async function retellAlert(tx: Tx, of: Retelling): Promise<boolean> {
  const { alertId, uid, channelUid, name, word } = of;
  const now = tx.now();
  const alert = await firstRow(
    tx,
    `select id, state, severity, notify_no, cronjob_id from alerts where id = ?${tx.dialect.lock.update}`,
    [alertId],
  );
  if (alert === undefined) return false;
  const messages = await rows(
    tx,
    'select d.stream_id, d.kind, d.cause, d.state, m.state as fate, d.created_at, d.ended_at, d.expires_at, d.collapse_key, d.payload ' +
      'from deliveries d left join deliveries m on m.id = d.merged_into ' +
      "where d.alert_id = ? and d.channel_uid = ? and d.state <> 'cancelled' and d.kind <> 'update' order by d.created_at, d.seq, d.id",
    [alertId, uid],
  );
  const last = messages.at(-1);
  if (last === undefined || !isDead(last) || last['payload'] === null) return false;
  const isFirstNotice = last['cause'] === firstNoticeCause;
  if (!isFirstNotice && (last['kind'] === 'closing' || alert['state'] !== 'active')) return false;
  if (wasRefused(last) && messages.slice(0, -1).some((row) => isDead(row) && endedAt(row) > now - refusedEveryMs)) {
    return false;
  }
  const notifyNo = Number(alert['notify_no']) + 1;
  const alertUid = tx.dialect.id16Text(alertId);
  const severity = String(alert['severity']) as MessageSeverity;
  const streamId = tx.dialect.id16Text(last['stream_id']);
  const id = newId(now);
  const payload = word(fromJson(last['payload']) as FrozenMessage, {
    notification: notifyNo,
    heldMs: now - Number(last['created_at']),
  });
  const kind = isFirstNotice ? 'closing' : 'firing';
  const written = await insertDelivery(tx, {
    id,
    streamId,
    seq: (await findStreamEnd(tx, streamId, channelUid)).nextSeq,
    alertId: alertUid,
    channel: { uid: channelUid, name },
    kind,
    cause: isFirstNotice ? firstNoticeCause : undefined,
    severity,
    state: 'ready',
    dedupKey: dedupKeyOf({ alertId: alertUid, kind, notifyNo, channelUid }),
    collapseKey: optionalText(last['collapse_key']),
    notifyNo,
    nextAt: now,
    createdAt: now,
    expiresAt: now + keptMs(severity),
    payload,
  });
  if (!written) return false;
  await change(tx, 'update alerts set notify_no = ? where id = ?', [notifyNo, alertId]);
  await recordDecisions(tx, [
    {
      action: 'queued',
      reason: 'channelRecovered',
      alertId: alertUid,
      cronJobId: optionalNumber(alert['cronjob_id']),
      deliveryId: id,
      channelUid,
    },
  ]);
  return true;
}

function isDead(row: Row): boolean {
  return ((row['fate'] ?? row['state']) as DeliveryState) === 'dead';
}

/** It was given up before its time was over. */
function wasRefused(row: Row): boolean {
  return endedAt(row) < Number(row['expires_at']);
}

function endedAt(row: Row): Instant {
  return Number(row['ended_at'] ?? 0);
}
