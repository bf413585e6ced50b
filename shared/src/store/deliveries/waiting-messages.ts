import type { DeliveryState, MessageSeverity } from '../../contract/index.ts';
import { isIncomplete, type FrozenMessage, type Instant } from '../../domain/index.ts';
import { type Row, change, rows } from '../ask.ts';
import { fromJson, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { changeIn, rowsIn } from '../upsert.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { decisionRefs } from './delivery-record.ts';

/**
 * What was waited for is kept with these alerts: their messages of which nothing was sent, and that wait for nothing else, go at once, and are
 * frozen with it as they are claimed. Returns how many there are.
 */
export function releaseWaiting(tx: Tx, alertIds: readonly string[]): Promise<number> {
  const at = tx.now();
  return changeIn(
    tx,
    alertIds.map((id) => tx.dialect.id16(id)),
    (marks) =>
      `update deliveries set next_at = ? where alert_id in (${marks}) and state = 'ready' and state_reason is null and attempts = 0 ` +
      "and next_at > ? and kind in ('firing', 'flapping', 'reminder', 'closing')",
    { before: [at], after: [at] },
  );
}

/** A message that went, or goes, without evidence of its run. */
export interface IncompleteMessage {
  readonly alertId: string;
  readonly streamId: string;
  readonly seq: number;
  readonly channelUid: string;
  readonly severity: MessageSeverity;
  readonly notifyNo: number;
  readonly payload: FrozenMessage;
}

/** Messages of alerts, each about one run, that were frozen while its evidence was still being read, and are the last ones of their streams. */
export async function listIncomplete(
  db: Db,
  alerts: readonly { readonly alertId: string; readonly jobUid: string }[],
): Promise<IncompleteMessage[]> {
  const runOf = new Map(alerts.map(({ alertId, jobUid }) => [toId16(alertId), toId16(jobUid)]));
  const found = await rowsIn(
    db,
    [...runOf.keys()].map((id) => db.dialect.id16(id)),
    (marks) =>
      'select d.alert_id, d.stream_id, d.seq, d.channel_uid, d.severity, d.notify_no, d.state, d.attempts, d.payload from deliveries d ' +
      `where d.alert_id in (${marks}) and d.kind in ('firing', 'reminder', 'flapping') ` +
      "and d.state in ('ready', 'parked', 'claimed', 'sent') and d.payload is not null " +
      'and not exists (select 1 from deliveries e where e.stream_id = d.stream_id and e.channel_uid = d.channel_uid and e.seq > d.seq) order by d.id',
  );
  return found.flatMap((row) => {
    const payload = payloadOf(row);
    const alertId = db.dialect.id16Text(row['alert_id']);
    const at = { state: String(row['state']) as DeliveryState, attempts: Number(row['attempts']) };
    const isOfRun = payload.jobUid !== undefined && toId16(payload.jobUid) === runOf.get(alertId);
    if (!isOfRun || !isIncomplete(at, payload.message)) return [];
    return [
      {
        alertId,
        streamId: db.dialect.id16Text(row['stream_id']),
        seq: Number(row['seq']),
        channelUid: db.dialect.id16Text(row['channel_uid']),
        severity: String(row['severity']) as MessageSeverity,
        notifyNo: Number(row['notify_no']),
        payload,
      },
    ];
  });
}

function payloadOf(row: Row): FrozenMessage {
  return fromJson(row['payload']) as FrozenMessage; // as insertDelivery wrote it
}

/**
 * Freezes anew a message that was not sent yet, now that it says what held it back: every attempt sends the same. False: the claim
 * is not ours any more.
 */
export async function updateHeldMessage(
  tx: Tx,
  of: { readonly deliveryId: string; readonly claimedBy: string; readonly payload: FrozenMessage },
): Promise<boolean> {
  const changed = await change(
    tx,
    "update deliveries set payload = ? where id = ? and claimed_by = ? and epoch = ? and state = 'claimed' and attempts <= 1 and maybe_sent = 0",
    [toJson(of.payload), tx.dialect.id16(of.deliveryId), of.claimedBy, tx.epoch ?? null],
  );
  return changed > 0;
}

const mostRows = 500;

/**
 * Says in the ledger of each message that is due why it does not go out yet: the process has just started, or has not judged everything
 * once. `untilAt` undefined: unknown. Those in `known` were said before. Returns the ids of those that are said now.
 */
export async function recordHeldByGrace(
  tx: Tx,
  of: { readonly untilAt: Instant | undefined; readonly known: ReadonlySet<string> },
): Promise<string[]> {
  const due = await rows(
    tx,
    "select id, alert_id, channel_uid from deliveries where state = 'ready' and priority <= 2 and next_at <= ? and alert_id is not null " +
      `order by id limit ${mostRows}`,
    [tx.now()],
  );
  const fresh = due.filter((row) => !of.known.has(tx.dialect.id16Text(row['id'])));
  await recordDecisions(
    tx,
    fresh.map((row) => ({
      action: 'held',
      reason: 'startupGrace',
      untilAt: of.untilAt,
      ...decisionRefs(tx, row),
    })),
  );
  return fresh.map((row) => tx.dialect.id16Text(row['id']));
}
