import { insertRows } from '../ask.ts';
import { cleanText, idOrNull, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { updateSuperseded } from './cancel-delivery.ts';
import { type NewDelivery, priorityOf, recordDeliveryChanges, type ToldDeliveryChange } from './delivery-record.ts';

const columns = [
  'id',
  'stream_id',
  'seq',
  'alert_id',
  'storm_id',
  'channel_uid',
  'channel_name',
  'kind',
  'cause',
  'priority',
  'severity',
  'state',
  'dedup_key',
  'collapse_key',
  'merged_into',
  'notify_no',
  'next_at',
  'state_reason',
  'created_at',
  'ended_at',
  'expires_at',
  'payload',
] as const;

/** Writes a message, in the place of updates of its stream. False: the same decision to tell was written before, and nothing changed. */
export async function insertDelivery(tx: Tx, delivery: NewDelivery): Promise<boolean> {
  const inserted = await insertRows(tx, {
    table: 'deliveries',
    columns,
    rows: [toRow(tx, delivery)],
    tail: tx.dialect.ifAbsent(['dedup_key']),
  });
  if (inserted === 0) return false;
  const { kind, seq, streamId, channel, createdAt } = delivery;
  if (kind !== 'update' && seq > 1) await updateSuperseded(tx, { streamId, channelUid: channel.uid, at: createdAt });
  await recordDeliveryChanges(tx, [toChange(delivery)]);
  return true;
}

/** Writes messages of which none can have been written before: their alerts are new. */
export async function insertNewDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  await insertRows(tx, { table: 'deliveries', columns, rows: deliveries.map((delivery) => toRow(tx, delivery)) });
  await recordDeliveryChanges(tx, deliveries.map(toChange));
}

function toChange({ id, alertId, channel, kind, state }: NewDelivery): ToldDeliveryChange {
  return { id, alertId, channelName: channel.name, kind, state };
}

function toRow(tx: Tx, delivery: NewDelivery): unknown[] {
  const { channel, state } = delivery;
  const row: Record<(typeof columns)[number], unknown> = {
    id: tx.dialect.id16(delivery.id),
    stream_id: tx.dialect.id16(delivery.streamId),
    seq: delivery.seq,
    alert_id: idOrNull(tx, delivery.alertId),
    storm_id: idOrNull(tx, delivery.digestId),
    channel_uid: tx.dialect.id16(channel.uid),
    channel_name: cleanText(channel.name, 253),
    kind: delivery.kind,
    cause: delivery.cause ?? null,
    priority: priorityOf(delivery.kind, delivery.severity),
    severity: delivery.severity,
    state,
    dedup_key: delivery.dedupKey,
    collapse_key: delivery.collapseKey ?? null,
    merged_into: idOrNull(tx, delivery.mergedInto),
    notify_no: delivery.notifyNo,
    next_at: state === 'ready' ? delivery.nextAt : null,
    state_reason: state === 'ready' ? (delivery.stateReason ?? null) : null,
    created_at: delivery.createdAt,
    ended_at: state === 'digested' ? delivery.createdAt : null,
    expires_at: delivery.expiresAt,
    payload: toJson(delivery.payload),
  };
  return columns.map((column) => row[column]);
}
