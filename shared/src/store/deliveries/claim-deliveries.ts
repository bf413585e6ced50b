import type { FrozenMessage, Instant, RateLimit } from '../../domain/index.ts';
import { change, firstRow, marks, type Row, rows } from '../ask.ts';
import type { Db, Tx } from '../database.ts';
import { quoted, updateRows } from '../upsert.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { admitRows, type ChannelLimit, type Refused, type Room } from './admit-rows.ts';
import { type ClaimedDelivery, decisionRefs, priorityLevels, testPriority } from './delivery-record.ts';
import type { DeliveryKind, DeliveryStateReason, MessageSeverity } from '../../contract/index.ts';
import { fromJson, idOrUndefined, optionalText } from '../column.ts';

const claimedColumns = [
  'id',
  'stream_id',
  'alert_id',
  'storm_id',
  'channel_uid',
  'channel_name',
  'kind',
  'cause',
  'severity',
  'notify_no',
  'attempts',
  'maybe_sent',
  'reduced',
  'state',
  'state_reason',
  'charged_at',
  'created_at',
  'expires_at',
  'progress',
  'payload',
] as const;

/** Rows of one look, for each that has room: every row looked at is locked, which costs. */
const rowsPerRoom = 2;
const mostRows = 64;
/** Looks of one claim: what found no token or no room is out of the way of the next. */
const mostLooks = 8;
/** How long a sender may keep what it claimed. */
export const claimMs = 30_000;

export interface ClaimRequest {
  /** Pod UID and boot id of the sender. */
  readonly claimedBy: string;
  /** Until the startup grace is over and the first evaluation was made, only tests go out. */
  readonly onlyTests: boolean;
  /** How many sends have room now, in all and on one channel. */
  readonly room: number;
  readonly roomOn: (channelUid: string) => number;
  /** How many are being sent on a channel: of one whose circuit is probed nothing else goes out. Absent: nothing is. */
  readonly inFlightOn?: ((channelUid: string) => number) | undefined;
  /** Channels without room: their messages are not even looked at, or a long queue of theirs would hide all others. */
  readonly fullChannels: readonly string[];
  /** All channels together. */
  readonly globalLimit: RateLimit;
  readonly limitOf: (channelUid: string) => ChannelLimit;
}

/**
 * Takes the messages that may be sent now, worst and oldest first, and counts the attempt. Two claims never take the same row; of
 * one stream and channel only the first open message can be taken. A message for which there is no token waits, with the reason and
 * the instant in its row. What was claimed and not settled in time is taken again, and then says that it may have been sent.
 */
export async function claimDeliveries(tx: Tx, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  const now = tx.now();
  await freeExpiredClaims(tx, now);
  const circuits = await rows(tx, "select uid, hold_until from channels where hold = 'circuit'");
  const open = circuits.filter((row) => Number(row['hold_until']) > now).map((row) => row['uid']);
  const probing = new Set(
    circuits.filter((row) => Number(row['hold_until']) <= now).map((row) => tx.dialect.id16Text(row['uid'])),
  );
  const room = createRoom(request, probing);
  const claimUntil = now + claimMs;
  const claimed: ClaimedDelivery[] = [];
  for (let look = 0; look < mostLooks && !room.isFull(); look++) {
    const limit = Math.min(mostRows, rowsPerRoom * (request.room - claimed.length));
    const due = await lockDue(tx, {
      now,
      limit,
      onlyTests: request.onlyTests,
      closed: open,
      full: room.fullChannels(),
    });
    const { admitted, refused, shared } = await admitRows(tx, due, { ...request, room }, now);
    await putBack(tx, refused);
    const by = { claimUntil, claimedBy: request.claimedBy };
    const isShared = (row: Row): boolean => shared.has(row);
    await markClaimed(
      tx,
      admitted.filter((row) => !isShared(row)),
      { ...by, chargedAt: now },
    );
    await markClaimed(tx, admitted.filter(isShared), { ...by, chargedAt: undefined });
    claimed.push(...admitted.map((row) => toClaimed(tx, row, claimUntil)));
    if (due.length < limit) break;
  }
  return claimed;
}

/** When the next message that waits for an instant after `now` is due; undefined: no message waits. */
export async function findNextDue(db: Db, now: Instant): Promise<Instant | undefined> {
  const parts = priorityLevels.map(
    (priority) =>
      `select min(next_at) as at from deliveries where state = 'ready' and priority = ${priority} and next_at > ?`,
  );
  const row = await firstRow(
    db,
    `select min(at) as at from (${parts.join(' union all ')}) as due`,
    parts.map(() => now),
  );
  return row === undefined || row['at'] === null ? undefined : Number(row['at']);
}

interface Look {
  readonly now: Instant;
  readonly limit: number;
  readonly onlyTests: boolean;
  /** Channels that take only tests. */
  readonly closed: readonly unknown[];
  /** UIDs of channels that take nothing. */
  readonly full: readonly string[];
}

async function lockDue(tx: Tx, look: Look): Promise<readonly Row[]> {
  const ids = await listDue(tx, look);
  if (ids.length === 0) return [];
  const found = await rows(
    tx,
    `select ${quoted(claimedColumns, 'd')} from deliveries d where d.state = 'ready' and d.id in (${marks(ids)}) ` +
      `order by d.priority desc, d.next_at, d.id${tx.dialect.lock.claim}`,
    ids,
  );
  return found;
}

/**
 * The most urgent that are due, of each urgency as many as are asked for: so an index gives them in their order, and a queue of
 * thousands is never sorted. What another one claims meanwhile is left out as it is locked.
 */
async function listDue(
  tx: Tx,
  { now, limit, onlyTests, closed, full: fullChannels }: Look,
): Promise<readonly unknown[]> {
  const full = fullChannels.map((uid) => tx.dialect.id16(uid));
  const fitting = full.length === 0 ? '' : `and d.channel_uid not in (${marks(full)}) `;
  const passing = closed.length === 0 ? '' : `and (d.kind = 'test' or d.channel_uid not in (${marks(closed)})) `;
  const urgencies = onlyTests ? [testPriority] : priorityLevels;
  const parts = urgencies.map(
    (priority) =>
      `select * from (select d.id, d.priority, d.next_at from deliveries d where d.state = 'ready' and d.priority = ${priority} ` +
      `and d.next_at <= ? and d.expires_at > ? ${passing}${fitting}` +
      'and not exists (select 1 from deliveries e where e.stream_id = d.stream_id and e.channel_uid = d.channel_uid ' +
      `and e.seq < d.seq and e.state in ('ready', 'claimed', 'parked')) order by d.next_at, d.id limit ${limit}) as p${priority}`,
  );
  const found = await rows(
    tx,
    `select id from (${parts.join(' union all ')}) as due order by priority desc, next_at, id limit ${limit}`,
    urgencies.flatMap(() => [now, now, ...closed, ...full]),
  );
  return found.map((row) => row['id']);
}

/** Claims that ran out: their messages are due again, and may have been sent. */
async function freeExpiredClaims(tx: Tx, now: Instant): Promise<void> {
  await change(
    tx,
    "update deliveries set maybe_sent = 1, claimed_by = null, claim_until = null, state = 'ready' where state = 'claimed' and claim_until < ?",
    [now],
  );
}

/** How many sends have room, in all and on each channel; of a channel whose circuit is probed only one. */
function createRoom(request: ClaimRequest, probing: ReadonlySet<string>): ClaimRoom {
  let used = 0;
  const usedOn = new Map<string, number>();
  const full = new Set<string>();
  const probed = new Set<string>();
  return {
    isFull: () => used >= request.room,
    hasRoom: (uid, kind) => {
      const taken = usedOn.get(uid) ?? 0;
      if (taken >= request.roomOn(uid)) {
        full.add(uid);
        return false;
      }
      // An update is no probe: it says nothing of its channel.
      if (kind === 'update' && probing.has(uid)) return false;
      // A test passes the circuit, of all others one is the probe.
      const isProbed = kind !== 'test' && probing.has(uid) && taken + (request.inFlightOn?.(uid) ?? 0) > 0;
      if (isProbed) probed.add(uid);
      return !isProbed;
    },
    take: (uid) => {
      used++;
      usedOn.set(uid, (usedOn.get(uid) ?? 0) + 1);
    },
    fullChannels: () => [...request.fullChannels, ...full],
    probedChannels: () => [...probed],
  };
}

/** Channels that this claim needs to look at no more: those without room, and those whose probe is out. */
interface ClaimRoom extends Room {
  readonly fullChannels: () => readonly string[];
  readonly probedChannels: () => readonly string[];
}

async function markClaimed(
  tx: Tx,
  admitted: readonly Row[],
  by: {
    readonly claimUntil: Instant;
    readonly claimedBy: string;
    /** Undefined: another one took the token for it. */
    readonly chargedAt: Instant | undefined;
  },
): Promise<void> {
  if (admitted.length === 0) return;
  const ids = admitted.map((row) => row['id']);
  await change(
    tx,
    `update deliveries set attempts = attempts + 1, ` +
      `charged_at = case when kind in ('test', 'update') then charged_at else coalesce(charged_at, ?) end, claimed_by = ?, claim_until = ?, ` +
      `epoch = ?, state_reason = null, state = 'claimed' where id in (${marks(ids)})`,
    [by.chargedAt ?? null, by.claimedBy, by.claimUntil, tx.epoch ?? null, ...ids],
  );
}

/** A message without a rate token waits in its row, and the ledger names the limit. */
async function putBack(tx: Tx, refused: readonly Refused[]): Promise<void> {
  if (refused.length === 0) return;
  await updateRows(tx, {
    table: 'deliveries',
    key: 'id',
    columns: { next_at: 'bigint', state_reason: { text: 32 } },
    rows: refused.map(({ row, nextAt }) => [row['id'], nextAt, 'rateLimit']),
  });
  await recordDecisions(
    tx,
    refused.map(({ row, scope, nextAt }) => ({
      action: 'rateLimited',
      reason: scope,
      untilAt: nextAt,
      ...decisionRefs(tx, row),
    })),
  );
}

/** The row as it was before the claim, which counts the attempt. */
function toClaimed(db: Db, row: Row, claimUntil: Instant): ClaimedDelivery {
  return {
    id: db.dialect.id16Text(row['id']),
    streamId: db.dialect.id16Text(row['stream_id']),
    alertId: idOrUndefined(db, row['alert_id']),
    digestId: idOrUndefined(db, row['storm_id']),
    channelUid: db.dialect.id16Text(row['channel_uid']),
    channelName: String(row['channel_name']),
    kind: String(row['kind']) as DeliveryKind,
    cause: optionalText(row['cause']),
    severity: String(row['severity']) as MessageSeverity,
    notifyNo: Number(row['notify_no']),
    attempts: Number(row['attempts']) + 1,
    maybeSent: Number(row['maybe_sent']) === 1,
    heldBy: (optionalText(row['state_reason']) ?? undefined) as DeliveryStateReason | undefined,
    reduced: Number(row['reduced']) === 1,
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    claimUntil,
    progress: fromJson(row['progress']) ?? undefined,
    payload: (fromJson(row['payload']) ?? undefined) as FrozenMessage | undefined,
  };
}
