import type { ChannelType, DeliveryErrorCategory } from '../../contract/index.ts';
import type { ChannelHold, Instant } from '../../domain/index.ts';
import { change, firstRow, type Row, rows } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { allowedNamespacesOf } from '../catalog/channels.ts';
import { updateMended } from './settle-channels.ts';
import type { StoredDeliveryError } from './delivery-record.ts';

/** A channel as far as it takes messages or not. */
export interface HeldChannel {
  readonly uid: string;
  readonly name: string;
  readonly type: ChannelType;
  readonly ready: boolean;
  readonly failuresInRow: number;
  readonly hold: ChannelHold['hold'];
  /** When it is probed or looked at again. */
  readonly untilAt: Instant | undefined;
  /** When it accepted a message or a test last, or a drill was acknowledged; undefined: never. */
  readonly acceptedAt: Instant | undefined;
  readonly allowedNamespaces: readonly string[] | undefined;
  /** When a drill was acknowledged last; undefined: never. */
  readonly provedAt: Instant | undefined;
}

/** Every channel that exists with its hold, by name. */
export async function listChannelHolds(db: Db): Promise<HeldChannel[]> {
  const found = await rows(
    db,
    'select uid, name, type, ready, failures_in_row, hold, hold_until, last_sent_at, last_test_at, last_test, proved_at, spec from channels ' +
      'where deleted_at is null order by name',
  );
  return found.map((row) => ({
    uid: db.dialect.id16Text(row['uid']),
    name: String(row['name']),
    type: String(row['type']) as ChannelType,
    ready: Number(row['ready']) === 1,
    failuresInRow: Number(row['failures_in_row']),
    hold: optionalText(row['hold']) as ChannelHold['hold'],
    untilAt: optionalNumber(row['hold_until']),
    acceptedAt: acceptedAt(row),
    allowedNamespaces: allowedNamespacesOf(fromJson(row['spec']) as { readonly allowedNamespaces?: unknown } | null),
    provedAt: optionalNumber(row['proved_at']),
  }));
}

function acceptedAt(row: Row): Instant | undefined {
  // The settling of a test writes it.
  const test = fromJson(row['last_test']) as { readonly success: boolean } | undefined;
  const at = [row['last_sent_at'], row['proved_at'], test?.success === true ? row['last_test_at'] : null]
    .map(optionalNumber)
    .filter((each) => each !== undefined);
  return at.length === 0 ? undefined : Math.max(...at);
}

/**
 * Lifts a hold that only a person could mend, since it seems to be mended: what was parked is due now, the next attempt shows. The
 * failures in a row stay: they end with a success. False: it had no such hold.
 */
export async function updateHoldLifted(tx: Tx, channelUid: string): Promise<boolean> {
  const uid = tx.dialect.id16(channelUid);
  const held = await rows(tx, "select uid from channels where uid = ? and hold in ('parked', 'invalid')", [uid]);
  if (held.length === 0) return false;
  // Messages are locked before channels, everywhere.
  await updateMended(tx, uid, tx.now());
  const lifted = await change(
    tx,
    "update channels set hold = null, hold_until = null, hold_step = 0 where uid = ? and hold in ('parked', 'invalid')",
    [uid],
  );
  return lifted > 0;
}

/** What could not even be tried is looked at again then. */
export async function updateHoldChecked(tx: Tx, channelUid: string, nextAt: Instant): Promise<void> {
  await change(tx, "update channels set hold_until = ? where uid = ? and hold = 'invalid'", [
    nextAt,
    tx.dialect.id16(channelUid),
  ]);
}

/** What a channel's row was made from last, and what holds it now. */
export interface ProjectedChannel {
  readonly generation: number;
  /** resourceVersions of the Secrets last read; undefined: none. */
  readonly secretVersion: string | undefined;
  readonly hold: ChannelHold['hold'];
}

/** Undefined when the channel has no row yet. */
export async function findProjectedChannel(db: Db, channelUid: string): Promise<ProjectedChannel | undefined> {
  const row = await firstRow(db, 'select generation, secret_version, hold from channels where uid = ?', [
    db.dialect.id16(channelUid),
  ]);
  return (
    row && {
      generation: Number(row['generation']),
      secretVersion: optionalText(row['secret_version']),
      hold: optionalText(row['hold']) as ChannelHold['hold'],
    }
  );
}

/** Attempts further back say nothing of why a channel is held. */
const mostLooked = 50;

/**
 * Why a channel is to be mended by a person, as its last attempt says; undefined: it is not, or no attempt is kept. `category` undefined:
 * it is held, and it is no longer known what for.
 */
export async function findChannelFault(
  db: Db,
  channelUid: string,
): Promise<{ readonly category: DeliveryErrorCategory | undefined; readonly message: string } | undefined> {
  const uid = db.dialect.id16(channelUid);
  const held = await firstRow(db, "select last_error from channels where uid = ? and hold in ('parked', 'invalid')", [
    uid,
  ]);
  if (held === undefined) return undefined;
  const found = await rows(
    db,
    `select last_error from deliveries where channel_uid = ? and last_error is not null order by created_at desc limit ${mostLooked}`,
    [uid],
  );
  const errors = found.map((row) => fromJson(row['last_error']) as StoredDeliveryError);
  const last = errors.toSorted((a, b) => b.at - a.at)[0];
  return { category: last?.category, message: last?.message ?? 'an earlier attempt was refused' };
}
