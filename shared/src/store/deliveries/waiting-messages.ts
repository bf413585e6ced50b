import type { DeliveryState, MessageSeverity } from '../../contract/index.ts';
import { isIncomplete, type FrozenMessage, type Instant } from '../../domain/index.ts';
import { change, rows, type Row } from '../ask.ts';
import { fromJson, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { rowsIn } from '../upsert.ts';

/** Of which nothing was ever sent: a message is frozen at its first claim. Closings are among them where they tell a beginning, too. */
const isWaiting =
  "state in ('ready', 'parked', 'collapsed') and attempts = 0 and kind in ('firing', 'flapping', 'reminder', 'closing') " +
  'and payload is not null';

/** The runs that messages of these alerts are about which have not left, by alert. */
export async function listWaitingRuns(
  db: Db,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await rowsIn(
    db,
    alertIds.map((id) => db.dialect.id16(toId16(id))),
    (marks) => `select alert_id, payload from deliveries where alert_id in (${marks}) and ${isWaiting}`,
  );
  const runs = new Map<string, string[]>();
  for (const row of found) {
    const { message, jobUid } = payloadOf(row);
    if (jobUid === undefined || isOverAlone(message)) continue;
    const alertId = db.dialect.id16Text(row['alert_id']);
    runs.set(alertId, [...(runs.get(alertId) ?? []), jobUid]);
  }
  return runs;
}

/**
 * Freezes anew the messages of an alert about one run of which nothing was ever sent, and lets those that waited for it go at once; what
 * waits for another reason goes on waiting. Messages about another run, and those that only tell an end, stay as they are. Returns how
 * many messages changed.
 */
export async function updateWaitingMessages(
  tx: Tx,
  of: {
    readonly alertId: string;
    /** UID of its Job. */
    readonly jobUid: string;
    readonly at: Instant;
    readonly freeze: (payload: FrozenMessage) => FrozenMessage;
  },
): Promise<number> {
  const found = await rows(
    tx,
    `select id, payload from deliveries where alert_id = ? and ${isWaiting} order by id${tx.dialect.lock.update}`,
    [tx.dialect.id16(toId16(of.alertId))],
  );
  let changed = 0;
  for (const row of found) {
    const frozen = payloadOf(row);
    if (frozen.jobUid === undefined || toId16(frozen.jobUid) !== toId16(of.jobUid) || isOverAlone(frozen.message))
      continue;
    // A few per alert; they share a connection.
    changed += await change(
      tx,
      "update deliveries set payload = ?, next_at = case when state = 'ready' and state_reason is null and next_at > ? then ? else next_at end where id = ?",
      [toJson(of.freeze(frozen)), of.at, of.at, row['id']],
    );
  }
  return changed;
}

/** A message that went, or goes, without evidence of its run. */
export interface IncompleteMessage {
  readonly streamId: string;
  readonly seq: number;
  readonly channelUid: string;
  readonly severity: MessageSeverity;
  readonly notifyNo: number;
  readonly payload: FrozenMessage;
}

/** Messages of an alert about one run that were frozen while its evidence was still being read, and are the last ones of their streams. */
export async function listIncomplete(
  db: Db,
  of: { readonly alertId: string; readonly jobUid: string },
): Promise<IncompleteMessage[]> {
  const found = await rows(
    db,
    'select d.stream_id, d.seq, d.channel_uid, d.severity, d.notify_no, d.state, d.attempts, d.payload from deliveries d ' +
      "where d.alert_id = ? and d.kind in ('firing', 'reminder', 'flapping') and d.state in ('ready', 'parked', 'claimed', 'sent') and d.payload is not null " +
      'and not exists (select 1 from deliveries e where e.stream_id = d.stream_id and e.channel_uid = d.channel_uid and e.seq > d.seq) order by d.id',
    [db.dialect.id16(toId16(of.alertId))],
  );
  return found.flatMap((row) => {
    const payload = payloadOf(row);
    const at = { state: String(row['state']) as DeliveryState, attempts: Number(row['attempts']) };
    const isOfRun = payload.jobUid !== undefined && toId16(payload.jobUid) === toId16(of.jobUid);
    if (!isOfRun || !isIncomplete(at, payload.message)) return [];
    return [
      {
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

function isOverAlone(message: FrozenMessage['message']): boolean {
  return message.kind === 'closing' && !message.data.alert.firstNotice;
}
