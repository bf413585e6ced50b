import type { DeliveryKind } from '../../contract/index.ts';
import { dayMs, type Instant } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, marks, rows } from '../ask.ts';
import type { Tx } from '../database.ts';
import { decisionRefs, recordChangesOf } from './delivery-record.ts';
import { idOrUndefined } from '../column.ts';

const mostRows = 500;
const redriveMs = dayMs;
const probeEveryMs = 900_000;

/**
 * Frees what earlier boots of this pod had claimed: they are gone, the next leader need not wait for their claims to run out. Names of senders
 * are `pod/boot`. Returns how many.
 */
export async function takeClaimsOfPod(
  tx: Tx,
  of: { readonly pod: string; readonly claimedBy: string },
): Promise<number> {
  const pattern = `${of.pod.replaceAll(/[!%_]/g, '!$&')}/%`;
  return change(
    tx,
    "update deliveries set maybe_sent = 1, claimed_by = null, claim_until = null, state = 'ready' where state = 'claimed' and claimed_by like ? escape '!' and claimed_by <> ?",
    [pattern, of.claimedBy],
  );
}

/**
 * Frees what leaders before this one had claimed, once none of them can begin a send any more: the next leader need not wait for their claims to
 * run out. Returns how many.
 */
export async function takeClaimsOfEarlierTerms(tx: Tx): Promise<number> {
  return change(
    tx,
    "update deliveries set maybe_sent = 1, claimed_by = null, claim_until = null, state = 'ready' where state = 'claimed' and epoch < ?",
    [tx.epoch ?? 0],
  );
}

/** A message that was given up because its time is over; an update is cancelled. */
interface ExpiredDelivery {
  readonly id: string;
  readonly channelUid: string;
  readonly channelName: string;
  readonly kind: DeliveryKind;
}

/** Gives up what is past its time, at most 500: ask again while there are any. */
export async function updateExpired(tx: Tx, at: Instant): Promise<ExpiredDelivery[]> {
  const found = await rows(
    tx,
    "select id, alert_id, channel_uid, channel_name, kind from deliveries where (state in ('ready', 'parked') or (state = 'claimed' and claim_until < ?)) " +
      `and expires_at <= ? order by id limit ${mostRows}${tx.dialect.lock.claim}`,
    [at, at],
  );
  if (found.length === 0) return [];
  const bound = found.map((row) => row['id']);
  await change(
    tx,
    `update deliveries set state = case when kind = 'update' then 'cancelled' else 'dead' end, state_reason = null, next_at = null, claimed_by = null, claim_until = null, ended_at = ? where id in (${marks(bound)})`,
    [at, ...bound],
  );
  await recordDecisions(
    tx,
    found.map((row) => ({
      action: row['kind'] === 'update' ? 'cancelled' : 'dead',
      reason: 'expired',
      ...decisionRefs(tx, row),
    })),
  );
  const expired = found.map((row) => ({
    id: tx.dialect.id16Text(row['id']),
    channelUid: tx.dialect.id16Text(row['channel_uid']),
    channelName: String(row['channel_name']),
    kind: String(row['kind']) as DeliveryKind,
  }));
  const ids = expired.map(({ id }) => id);
  await recordChangesOf(tx, ids);
  return expired;
}

/**
 * Sends a dead or parked message again under the same key; a dead one gets 24 h more. False: it is neither, its payload is gone,
 * or it asks for an answer to a drill that is over. The apiserver does this by hand of a person.
 */
export async function updateRedriven(tx: Tx, id: string, byWhom: string): Promise<boolean> {
  const at = tx.now();
  const bound = tx.dialect.id16(id);
  const moved = await change(
    tx,
    "update deliveries set expires_at = case when state = 'dead' then ? else expires_at end, ended_at = null, next_at = ?, state_reason = null, state = 'ready' " +
      "where id = ? and state in ('dead', 'parked') and payload is not null " +
      'and not exists (select 1 from drills r where r.delivery_id = deliveries.id and r.ended_at is not null)',
    [at + redriveMs, at, bound],
  );
  if (moved === 0) return false;
  const [row] = await rows(tx, 'select alert_id, channel_uid from deliveries where id = ?', [bound]);
  await recordDecisions(tx, [
    {
      action: 'redriven',
      byWhom,
      alertId: idOrUndefined(tx, row?.['alert_id']),
      deliveryId: id,
      channelUid: idOrUndefined(tx, row?.['channel_uid']),
    },
  ]);
  await recordChangesOf(tx, [id]);
  return true;
}

/** Makes the oldest message of each parked channel ready whose probe is due, and sets the next probe. Returns the ids. */
export async function takeProbes(tx: Tx, at: Instant): Promise<string[]> {
  const channels = await rows(tx, "select uid from channels where hold = 'parked' and hold_until <= ? order by uid", [
    at,
  ]);
  const probes: string[] = [];
  for (const { uid } of channels) {
    // Few channels are parked at a time.
    const [row] = await rows(
      tx,
      "select id from deliveries where channel_uid = ? and state = 'parked' and kind <> 'update' order by created_at, seq, id limit 1",
      [uid],
    );
    if (row !== undefined) {
      await change(tx, "update deliveries set state = 'ready', next_at = ? where id = ? and state = 'parked'", [
        at,
        row['id'],
      ]);
      probes.push(tx.dialect.id16Text(row['id']));
    }
    await change(tx, 'update channels set hold_until = ? where uid = ?', [at + probeEveryMs, uid]);
  }
  return probes;
}
