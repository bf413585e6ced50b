import type { ChannelType } from '../../contract/index.ts';
import { firstRow, rows, type Row } from '../ask.ts';
import type { Instant } from '../../domain/index.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { quoted } from '../upsert.ts';
import type { ChannelProjection } from './channels.ts';

/** An AlertChannel as its reconciler last judged it, with what deliveries made of it. */
export interface CatalogChannelState extends Omit<ChannelProjection, 'secretVersion' | 'readyChangedAt'> {
  /** When its condition Ready last changed; undefined: not known. */
  readonly readyChangedAt: Instant | undefined;
  readonly figures: StoredChannelFigures;
}

/** How many messages of a channel wait or were given up. */
export interface ChannelQueue {
  /** Ready or claimed. */
  readonly queued: number;
  readonly parked: number;
  readonly dead: number;
}

/** State of a channel that deliveries change, in the transactions that settle them. */
export interface StoredChannelFigures {
  readonly sentTotal: number;
  readonly failedTotal: number;
  readonly failuresInRow: number;
  readonly lastSentAt: Instant | undefined;
  readonly lastFailedAt: Instant | undefined;
  readonly lastError: string | undefined;
  readonly lastTestAt: Instant | undefined;
  readonly lastTest: { readonly success: boolean; readonly message: string; readonly generation?: number } | undefined;
}

const channelFigureColumns = [
  'sent_total',
  'failed_total',
  'failures_in_row',
  'last_sent_at',
  'last_failed_at',
  'last_error',
  'last_test_at',
  'last_test',
] as const;

/** Undefined when the channel has no row yet. */
export async function findChannelFigures(db: Db, uid: string): Promise<StoredChannelFigures | undefined> {
  const row = await firstRow(db, `select ${channelFigureColumns.join(', ')} from channels where uid = ?`, [
    db.dialect.id16(uid),
  ]);
  return row && toChannelFigures(row);
}

function toChannelFigures(row: Row): StoredChannelFigures {
  return {
    sentTotal: Number(row['sent_total'] ?? 0),
    failedTotal: Number(row['failed_total'] ?? 0),
    failuresInRow: Number(row['failures_in_row'] ?? 0),
    lastSentAt: optionalNumber(row['last_sent_at']),
    lastFailedAt: optionalNumber(row['last_failed_at']),
    lastError: optionalText(row['last_error']),
    lastTestAt: optionalNumber(row['last_test_at']),
    // The settling of a test writes it.
    lastTest: fromJson(row['last_test']) as StoredChannelFigures['lastTest'],
  };
}

const columns = [
  'uid',
  'name',
  'type',
  'generation',
  'spec',
  'ready',
  'reason',
  'message',
  'ready_changed_at',
  ...channelFigureColumns,
];

/** Every channel that exists, by name. There are hundreds at most: filters and order are the caller's. */
export async function listChannelStates(db: Db): Promise<CatalogChannelState[]> {
  const found = await rows(db, `select ${quoted(columns)} from channels where deleted_at is null order by name, uid`);
  return found.map((row) => toState(db, row));
}

/** Undefined when it does not exist, or no longer; `wasDeleted` tells which. */
export async function findChannel(
  db: Db,
  name: string,
): Promise<{ readonly channel: CatalogChannelState | undefined; readonly wasDeleted: boolean }> {
  const row = await firstRow(
    db,
    `select ${quoted(columns)}, deleted_at from channels where name = ? ` +
      'order by case when deleted_at is null then 0 else 1 end, deleted_at desc limit 1',
    [name],
  );
  const wasDeleted = row !== undefined && row['deleted_at'] !== null;
  return { channel: row && !wasDeleted ? toState(db, row) : undefined, wasDeleted };
}

/** Names of channels by UID, of deleted ones too. */
export async function listChannelNames(db: Db): Promise<ReadonlyMap<string, string>> {
  const found = await rows(db, 'select uid, name from channels order by uid');
  return new Map(found.map((row) => [db.dialect.id16Text(row['uid']), String(row['name'])]));
}

/** Waiting messages by the UID of their channel, without drills; a channel without waiting messages is absent. */
export async function countQueued(db: Db): Promise<ReadonlyMap<string, ChannelQueue>> {
  const count = (states: string, name: string): string =>
    `sum(case when state in (${states}) then 1 else 0 end) as ${name}`;
  const found = await rows(
    db,
    `select channel_uid, ${count("'ready', 'claimed'", 'n_queued')}, ${count("'parked'", 'n_parked')}, ${count("'dead'", 'n_dead')} ` +
      "from deliveries where state in ('ready', 'claimed', 'parked', 'dead') and kind <> 'drill' group by channel_uid",
  );
  return new Map(
    found.map((row) => [
      db.dialect.id16Text(row['channel_uid']),
      { queued: Number(row['n_queued']), parked: Number(row['n_parked']), dead: Number(row['n_dead']) },
    ]),
  );
}

function toState(db: Db, row: Row): CatalogChannelState {
  return {
    uid: db.dialect.id16Text(row['uid']),
    name: String(row['name']),
    type: String(row['type']) as ChannelType,
    generation: Number(row['generation']),
    spec: fromJson(row['spec']),
    ready: Number(row['ready']) === 1,
    reason: String(row['reason']),
    message: String(row['message']),
    readyChangedAt: optionalNumber(row['ready_changed_at']),
    figures: toChannelFigures(row),
  };
}

/** An AlertChannel as far as monitors refer to it. */
export interface CatalogChannel {
  readonly name: string;
  readonly type: ChannelType;
  readonly ready: boolean;
  readonly reason: string;
}

/** Every channel that exists, by name. There are hundreds at most. */
export async function listChannels(db: Db): Promise<CatalogChannel[]> {
  const found = await rows(
    db,
    'select name, type, ready, reason from channels where deleted_at is null order by name, uid',
  );
  return found.map((row) => ({
    name: String(row['name']),
    type: String(row['type']) as ChannelType,
    ready: Number(row['ready']) === 1,
    reason: String(row['reason']),
  }));
}
