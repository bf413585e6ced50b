import { timingSafeEqual } from 'node:crypto';
import type { DrillOutcome } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, firstRow, type Row, rows } from '../ask.ts';
import { fromJson, optionalCleanText, optionalNumber } from '../column.ts';
import type { Tx } from '../database.ts';
import { recordChangesOf, type StoredDeliveryError } from '../deliveries/delivery-record.ts';
import { drillColumns, hashOf, type StoredDrill, toDrill } from './drill-record.ts';

const columnsOfDrill = drillColumns.map((column) => `r.${column}`).join(', ');

/** `unknown` does not tell whether there is such a drill. `proved` twice tells the first acknowledgement both times. */
type Acknowledged =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'over'; readonly drill: StoredDrill }
  | { readonly kind: 'proved'; readonly drill: StoredDrill };

/** The holder of the key may acknowledge. The time begins when the receiver accepted the message, also where the leader has not written that yet. */
export async function acknowledgeDrill(
  tx: Tx,
  { id, key, by }: { readonly id: string; readonly key: string; readonly by: string | undefined },
): Promise<Acknowledged> {
  const bound = tx.dialect.id16(id);
  const row = await firstRow(
    tx,
    `select ${columnsOfDrill}, r.key_hash, d.first_sent_at from drills r ` +
      'left join deliveries d on d.id = r.delivery_id where r.id = ?',
    [bound],
  );
  const isRight = timingSafeEqual(
    Buffer.from(hashOf(key), 'hex'),
    Buffer.from(row === undefined ? hashOf('') : String(row['key_hash']), 'hex'),
  );
  if (row === undefined || !isRight) return { kind: 'unknown' };
  const drill = toDrill(tx, row);
  if (drill.outcome === 'proved') return { kind: 'proved', drill };
  const sentAt = drill.sentAt ?? optionalNumber(row['first_sent_at']);
  const now = tx.now();
  if (drill.outcome !== 'waiting' || (sentAt !== undefined && sentAt + drill.ackWithinMs <= now))
    return { kind: 'over', drill };
  const ackedBy = optionalCleanText(by, 253);
  const changed = await change(
    tx,
    "update drills set acked_at = ?, acked_by = ?, outcome = 'proved' where id = ? and outcome = 'waiting'",
    [now, ackedBy, bound],
  );
  if (changed > 0) {
    return { kind: 'proved', drill: { ...drill, outcome: 'proved', ackedAt: now, ackedBy: ackedBy ?? undefined } };
  }
  // The leader, or another press of the link, came first.
  const after = await firstRow(
    tx,
    `select ${drillColumns.join(', ')} from drills where id = ?${tx.dialect.lock.update}`,
    [bound],
  );
  if (after === undefined) return { kind: 'unknown' };
  const told = toDrill(tx, after);
  return { kind: told.outcome === 'proved' ? 'proved' : 'over', drill: told };
}

/** A drill that has ended now, with what follows from it. */
export interface EndedDrill {
  readonly drill: StoredDrill;
  /** The error of a failed drill; undefined: its time ended before it was sent. */
  readonly error: string | undefined;
  /** Its receiver may have it, and keeps it open if it is one that does. */
  readonly mayBeOpen: boolean;
}

const mostAtOnce = 500;

/**
 * Moves drills by what became of their messages and by time: the link begins to be valid when the receiver has accepted the message, what is
 * acknowledged proves its channel, the rest ends. One that is acknowledged while its message is being sent ends once that is settled; a message
 * that waits to be tried again is taken back then. Returns those that have ended, each once in all.
 */
export async function moveDrills(tx: Tx): Promise<readonly EndedDrill[]> {
  const now = tx.now();
  const found = await rows(
    tx,
    `select ${columnsOfDrill}, d.id as told, d.state, d.first_sent_at, d.maybe_sent, d.last_error from drills r ` +
      `left join deliveries d on d.id = r.delivery_id where r.ended_at is null order by r.id limit ${mostAtOnce}`,
  );
  const ended: EndedDrill[] = [];
  for (const row of found) {
    const drill = await followMessage(tx, row, toDrill(tx, row));
    const outcome = outcomeOf(drill, row, now);
    if (outcome === 'waiting') continue;
    // A message that is being sent cannot be taken back; its answer is awaited.
    if (outcome === 'proved' && row['state'] === 'claimed') continue;
    const guard = outcome === 'proved' ? 'proved' : 'waiting';
    const changed = await change(
      tx,
      'update drills set outcome = ?, ended_at = ? where id = ? and ended_at is null and outcome = ?',
      [outcome, now, row['id'], guard],
    );
    // The drill was acknowledged at this moment: the next look ends it.
    if (changed === 0) continue;
    if (outcome === 'proved') {
      await writeProof(tx, row['channel_uid'], drill);
      await takeBack(tx, drill);
    }
    const error = fromJson(row['last_error']) as StoredDeliveryError | undefined;
    const mayBeOpen = outcome === 'proved' || drill.sentAt !== undefined || Number(row['maybe_sent'] ?? 0) === 1;
    ended.push({ drill: { ...drill, outcome }, error: error?.message, mayBeOpen });
  }
  return ended;
}

async function followMessage(tx: Tx, row: Row, drill: StoredDrill): Promise<StoredDrill> {
  const sentAt = optionalNumber(row['first_sent_at']);
  if (drill.sentAt !== undefined || row['state'] !== 'sent' || sentAt === undefined) return drill;
  const ackByAt = sentAt + drill.ackWithinMs;
  await change(tx, 'update drills set sent_at = ?, ack_by_at = ? where id = ?', [sentAt, ackByAt, row['id']]);
  return { ...drill, sentAt, ackByAt };
}

function outcomeOf(drill: StoredDrill, row: Row, now: Instant): DrillOutcome {
  if (drill.outcome !== 'waiting') return drill.outcome;
  if (drill.ackByAt !== undefined) return drill.ackByAt <= now ? 'reached' : 'waiting';
  const isGivenUp = row['told'] === null || row['state'] === 'dead' || row['state'] === 'cancelled';
  return isGivenUp ? 'failed' : 'waiting';
}

async function writeProof(tx: Tx, channelUid: unknown, { ackedAt, ackedBy }: StoredDrill): Promise<void> {
  if (ackedAt === undefined) return;
  await change(tx, 'update channels set proved_by = ?, proved_at = ? where uid = ? and coalesce(proved_at, 0) < ?', [
    ackedBy ?? null,
    ackedAt,
    channelUid,
    ackedAt,
  ]);
}

/** The person who pressed the link has the message, whatever its receiver answered: it is not sent again. */
async function takeBack(tx: Tx, { deliveryId, channelUid }: StoredDrill): Promise<void> {
  const changed = await change(
    tx,
    "update deliveries set state = 'cancelled', state_reason = null, next_at = null, ended_at = ? where id = ? and state in ('ready', 'parked')",
    [tx.now(), tx.dialect.id16(deliveryId)],
  );
  if (changed === 0) return;
  await recordDecisions(tx, [{ action: 'cancelled', reason: 'acknowledged', deliveryId, channelUid }]);
  await recordChangesOf(tx, [deliveryId]);
}
