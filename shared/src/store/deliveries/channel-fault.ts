import type { DeliveryErrorCategory } from '../../contract/index.ts';
import type { ChannelHold } from '../../domain/index.ts';
import { firstRow, rows } from '../ask.ts';
import { fromJson, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { toId16 } from '../id16.ts';
import type { StoredDeliveryError } from './delivery-record.ts';

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
    db.dialect.id16(toId16(channelUid)),
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
  const uid = db.dialect.id16(toId16(channelUid));
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
