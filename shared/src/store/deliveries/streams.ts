import type { DeliveryKind, DeliveryState, DeliveryStateReason, MessageSeverity } from '../../contract/index.ts';
import type { FrozenMessage, Heading, Instant } from '../../domain/index.ts';
import { change, firstRow, rows } from '../ask.ts';
import { fromJson, optionalNumber, optionalText, idOrUndefined } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** A message about an alert, as far as it decides what is told next. */
export interface AlertDelivery {
  readonly id: string;
  readonly streamId: string;
  readonly seq: number;
  readonly channelUid: string;
  readonly channelName: string;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  /** State of the one it was merged into, else its own. */
  readonly fate: DeliveryState;
  /** It may have reached the receiver without our knowing; of the one it was merged into. */
  readonly maybeSent: boolean;
  readonly mergedInto: string | undefined;
  readonly severity: MessageSeverity;
  readonly cause: string | undefined;
  readonly createdAt: Instant;
  /** When it is due, and what it waits for; undefined: nothing of its own, or it waits for no instant. */
  readonly nextAt: Instant | undefined;
  readonly stateReason: DeliveryStateReason | undefined;
  readonly attempts: number;
}

const columns =
  'id, stream_id, seq, channel_uid, channel_name, kind, state, maybe_sent, merged_into, severity, cause, created_at, ' +
  'next_at, state_reason, attempts';

/** All messages that told of an alert, oldest first: updates only complete one. */
export async function listDeliveriesOfAlert(db: Db, alertId: string): Promise<AlertDelivery[]> {
  const own = await rows(
    db,
    `select ${columns} from deliveries where alert_id = ? and kind <> 'update' order by created_at, seq, id`,
    [db.dialect.id16(alertId)],
  );
  const merged = await rowsIn(
    db,
    own.flatMap((row) => (row['merged_into'] === null ? [] : [row['merged_into']])),
    (marks) => `select id, state, maybe_sent from deliveries where id in (${marks})`,
  );
  const fates = new Map(merged.map((row) => [db.dialect.id16Text(row['id']), row]));
  return own.map((row) => {
    const mergedInto = idOrUndefined(db, row['merged_into']);
    const fate = (mergedInto === undefined ? undefined : fates.get(mergedInto)) ?? row;
    return {
      id: db.dialect.id16Text(row['id']),
      streamId: db.dialect.id16Text(row['stream_id']),
      seq: Number(row['seq']),
      channelUid: db.dialect.id16Text(row['channel_uid']),
      channelName: String(row['channel_name']),
      kind: String(row['kind']) as DeliveryKind,
      state: String(row['state']) as DeliveryState,
      fate: String(fate['state']) as DeliveryState,
      maybeSent: Number(fate['maybe_sent']) === 1,
      mergedInto,
      severity: String(row['severity']) as MessageSeverity,
      cause: optionalText(row['cause']),
      createdAt: Number(row['created_at']),
      nextAt: optionalNumber(row['next_at']),
      stateReason: optionalText(row['state_reason']) as DeliveryStateReason | undefined,
      attempts: Number(row['attempts']),
    };
  });
}

/** Where the next message of a stream stands on a channel, and the heading that its first one there had. */
export async function findStreamEnd(
  db: Db,
  streamId: string,
  channelUid: string,
): Promise<{ readonly nextSeq: number; readonly heading: Heading | undefined }> {
  const bound = [db.dialect.id16(streamId), db.dialect.id16(channelUid)];
  const last = await firstRow(
    db,
    'select max(seq) as n from deliveries where stream_id = ? and channel_uid = ?',
    bound,
  );
  if (last === undefined || last['n'] === null) return { nextSeq: 1, heading: undefined };
  const first = await firstRow(
    db,
    'select payload from deliveries where stream_id = ? and channel_uid = ? order by seq limit 1',
    bound,
  );
  const payload = fromJson(first?.['payload']) as FrozenMessage | null | undefined;
  return { nextSeq: Number(last['n']) + 1, heading: payload?.heading };
}

/**
 * The message to the same channel about the same condition that another monitor's live alert has made since `after`, neither
 * cancelled nor dead, of the same severity or a higher one; the newest. One that waits for its turn after other channels is none. Undefined: there is none.
 */
export async function findTwin(
  db: Db,
  of: {
    readonly collapseKey: string;
    readonly alertId: string;
    readonly severity: MessageSeverity;
    /** Exclusive. */
    readonly after: Instant;
  },
): Promise<{ readonly id: string; readonly streamId: string } | undefined> {
  const row = await firstRow(
    db,
    'select d.id, d.stream_id from deliveries d join alerts a on a.id = d.alert_id ' +
      "where d.collapse_key = ? and d.created_at > ? and d.alert_id <> ? and d.severity in (?, 'critical') and d.kind <> 'closing' " +
      "and d.state in ('ready', 'claimed', 'parked', 'sent', 'digested') and coalesce(d.state_reason, '') <> 'after' and a.live_key is not null " +
      'order by d.created_at desc, d.id desc limit 1',
    [of.collapseKey, of.after, db.dialect.id16(of.alertId), of.severity],
  );
  return row && { id: db.dialect.id16Text(row['id']), streamId: db.dialect.id16Text(row['stream_id']) };
}

/** A message that another one speaks for now. */
interface FoldedTwin {
  readonly id: string;
  readonly alertId: string;
  readonly kind: DeliveryKind;
}

/**
 * Warnings of other monitors about the same condition, to the same channel, that have not left are merged into a critical message: its
 * receiver hears of the run once, at the higher severity. `after`: exclusive.
 */
export async function foldLesserTwins(
  tx: Tx,
  of: {
    readonly collapseKey: string;
    readonly alertId: string;
    readonly after: Instant;
    readonly into: { readonly id: string; readonly streamId: string; readonly channelUid: string };
  },
): Promise<readonly FoldedTwin[]> {
  const { id, streamId, channelUid } = of.into;
  const [into, stream] = [id, streamId].map((one) => tx.dialect.id16(one));
  const found = await rows(
    tx,
    'select d.id, d.alert_id, d.kind, d.state, d.merged_into from deliveries d join alerts a on a.id = d.alert_id ' +
      "where d.collapse_key = ? and d.created_at > ? and d.alert_id <> ? and d.severity = 'warning' and d.kind <> 'closing' and a.live_key is not null " +
      "and d.attempts = 0 and (d.state = 'collapsed' or (d.state = 'ready' and coalesce(d.state_reason, '') not in ('after', 'scope'))) " +
      "order by case d.state when 'ready' then 0 else 1 end, d.created_at, d.id",
    [of.collapseKey, of.after, tx.dialect.id16(of.alertId)],
  );
  let { nextSeq } = found.length === 0 ? { nextSeq: 0 } : await findStreamEnd(tx, streamId, channelUid);
  const folded: FoldedTwin[] = [];
  for (const row of found) {
    const mergedInto = row['merged_into'] === null ? undefined : tx.dialect.id16Text(row['merged_into']);
    if (mergedInto !== undefined && !folded.some((twin) => twin.id === mergedInto)) continue;
    const changed = await change(
      tx,
      "update deliveries set state = 'collapsed', state_reason = null, next_at = null, merged_into = ?, stream_id = ?, seq = ? where id = ? and state = ?",
      [into, stream, nextSeq, row['id'], row['state']],
    );
    if (changed === 0) continue;
    nextSeq++;
    const alertId = tx.dialect.id16Text(row['alert_id']);
    folded.push({ id: tx.dialect.id16Text(row['id']), alertId, kind: String(row['kind']) as DeliveryKind });
  }
  return folded;
}

/** Whether something else that still holds was told in this stream: then its receiver must not hear that it is over. */
export async function isStreamShared(
  db: Db,
  of: { readonly streamId: string; readonly channelUid: string; readonly alertId: string },
): Promise<boolean> {
  const row = await firstRow(
    db,
    'select d.id from deliveries d join alerts a on a.id = d.alert_id where d.stream_id = ? and d.channel_uid = ? ' +
      "and d.alert_id <> ? and d.state not in ('cancelled', 'dead') and a.live_key is not null limit 1",
    [db.dialect.id16(of.streamId), db.dialect.id16(of.channelUid), db.dialect.id16(of.alertId)],
  );
  return row !== undefined;
}
