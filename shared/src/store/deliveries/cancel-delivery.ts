import { type Instant, statesBefore } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, firstRow, inParts, marks, rows } from '../ask.ts';
import type { Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { decisionRefs, firstNoticeCause, recordChangesOf } from './delivery-record.ts';
import { idOrUndefined } from '../column.ts';

interface Cancelled {
  /** False: it is being sent, may have arrived, or is over. */
  readonly cancelled: boolean;
  /** The twin that is sent in its place; undefined: there is none. */
  readonly promotedId: string | undefined;
}

/**
 * Takes back a message that has not left: nothing of it was ever written to a receiver. A twin that was merged into it goes out in
 * its place; further twins are merged into that one.
 */
export async function updateCancelled(tx: Tx, id: string, at: Instant): Promise<Cancelled> {
  const bound = tx.dialect.id16(id);
  const states = statesBefore('cancel').filter((state) => state !== 'claimed');
  const changed = await change(
    tx,
    `update deliveries set state = 'cancelled', state_reason = null, next_at = null, ended_at = ? where id = ? and maybe_sent = 0 and state in (${marks(states)})`,
    [at, bound, ...states],
  );
  if (changed === 0) return { cancelled: false, promotedId: undefined };
  const promotedId = await promoteTwin(tx, id, at);
  await recordChangesOf(tx, promotedId === undefined ? [id] : [id, promotedId]);
  return { cancelled: true, promotedId };
}

/** A twin that was merged into a message which is not sent goes out in its place; further twins are merged into that one. */
export async function promoteTwin(tx: Tx, id: string, at: Instant): Promise<string | undefined> {
  const bound = tx.dialect.id16(id);
  const row = await firstRow(tx, 'select collapse_key from deliveries where id = ?', [bound]);
  const key = row?.['collapse_key'] ?? null;
  if (key === null) return undefined;
  const twin = await firstRow(
    tx,
    "select id from deliveries where collapse_key = ? and merged_into = ? and state = 'collapsed' and kind <> 'closing' order by created_at, seq, id limit 1",
    [key, bound],
  );
  if (twin === undefined) return undefined;
  await change(
    tx,
    "update deliveries set state = 'ready', next_at = ?, merged_into = null where id = ? and state = 'collapsed'",
    [at, twin['id']],
  );
  await change(
    tx,
    "update deliveries set merged_into = ? where collapse_key = ? and merged_into = ? and state = 'collapsed'",
    [twin['id'], key, bound],
  );
  return tx.dialect.id16Text(twin['id']);
}

/** Cancels the updates in a stream that have not left, since a later message of the stream tells more. */
export async function updateSuperseded(
  tx: Tx,
  { streamId, channelUid, at }: { readonly streamId: string; readonly channelUid: string; readonly at: Instant },
): Promise<void> {
  const found = await rows(
    tx,
    "select id, alert_id from deliveries where stream_id = ? and channel_uid = ? and kind = 'update' and state in ('ready', 'parked') order by id",
    [tx.dialect.id16(streamId), tx.dialect.id16(channelUid)],
  );
  if (found.length === 0) return;
  const bound = found.map((row) => row['id']);
  await change(
    tx,
    `update deliveries set state = 'cancelled', state_reason = null, next_at = null, ended_at = ? where id in (${marks(bound)}) and state in ('ready', 'parked')`,
    [at, ...bound],
  );
  const ids = bound.map((id) => tx.dialect.id16Text(id));
  await recordDecisions(
    tx,
    found.map((row) => ({
      action: 'cancelled',
      reason: 'superseded',
      alertId: idOrUndefined(tx, row['alert_id']),
      deliveryId: tx.dialect.id16Text(row['id']),
      channelUid,
    })),
  );
  await recordChangesOf(tx, ids);
}

/** Takes back all that has not left for a channel that is gone. Returns the ids. */
export async function updateCancelledOfChannel(tx: Tx, channelUid: string, at: Instant): Promise<string[]> {
  const found = await rows(
    tx,
    "select id, alert_id, channel_uid, state from deliveries where channel_uid = ? and maybe_sent = 0 and state in ('ready', 'parked', 'collapsed') order by id",
    [tx.dialect.id16(channelUid)],
  );
  const ids = found.map((row) => tx.dialect.id16Text(row['id']));
  for (const part of inParts(found)) {
    const bound = part.map((row) => row['id']);
    await change(
      tx,
      `update deliveries set state = 'cancelled', state_reason = null, next_at = null, ended_at = ? where id in (${marks(bound)}) and state in ('ready', 'parked', 'collapsed')`,
      [at, ...bound],
    );
  }
  for (const part of inParts(found)) {
    // Twins are spoken for by what they were merged into.
    await recordDecisions(
      tx,
      part
        .filter(({ state }) => state !== 'collapsed')
        .map((row) => ({
          action: 'cancelled',
          reason: 'channelDeleted',
          ...decisionRefs(tx, row),
        })),
    );
  }
  await recordChangesOf(tx, ids);
  return ids;
}

/** Cancels messages that tell a channel of the end or the flapping of alerts it never heard of: a digest tells it instead. */
export async function cancelUnheard(tx: Tx, alertIds: readonly string[], at: Instant): Promise<void> {
  const found = await rowsIn(
    tx,
    alertIds.map((id) => tx.dialect.id16(id)),
    (marks) =>
      `select id from deliveries where alert_id in (${marks}) and (cause = '${firstNoticeCause}' or kind = 'flapping') ` +
      "and maybe_sent = 0 and state in ('ready', 'collapsed', 'parked')",
  );
  for (const part of inParts(found)) {
    const bound = part.map((row) => row['id']);
    await change(
      tx,
      `update deliveries set state = 'cancelled', state_reason = null, next_at = null, ended_at = ? where id in (${marks(bound)})`,
      [at, ...bound],
    );
  }
  await recordChangesOf(
    tx,
    found.map((row) => tx.dialect.id16Text(row['id'])),
  );
}
