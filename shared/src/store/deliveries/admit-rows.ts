import {
  admit,
  criticalReserve,
  type Admission,
  type Instant,
  type RateLimit,
  minuteMs,
  hourMs,
} from '../../domain/index.ts';
import { firstRow, rows, type Row } from '../ask.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import {
  channelScope,
  criticalScope,
  globalScope,
  listRateLimits,
  lockRateLimits,
  putRateLimits,
} from '../rate-limits.ts';
import { rowsIn } from '../upsert.ts';
import { criticalPriority } from './delivery-record.ts';

/** What a channel takes: at most so many messages in any hour, and so many in any minute. */
export interface ChannelLimit {
  readonly maxPerHour: number;
  readonly burst: number;
  /** Messages of one claim are one message for the limits: its receiver groups them. */
  readonly sharesToken?: boolean;
}

/** A message that has to wait, and for which limit. */
export interface Refused {
  readonly row: Row;
  readonly scope: 'global' | 'channel';
  readonly nextAt: Instant;
}

/** How many of a channel's messages took a token of late. */
interface Charged {
  readonly inHour: number;
  readonly inMinute: number;
}

/** How many sends have room, in all and on each channel. */
export interface Room {
  readonly isFull: () => boolean;
  readonly hasRoom: (channelUid: string, kind: string) => boolean;
  readonly take: (channelUid: string) => void;
}

interface AdmitRequest {
  readonly globalLimit: RateLimit;
  readonly limitOf: (channelUid: string) => ChannelLimit;
  readonly room: Room;
}

/**
 * Takes a token for each message in their order while there is room to send: one of all channels together and one of its own, or none.
 * Tests, updates and messages that took theirs before pass. A burst is for all severities; critical messages have a little on top of it, and while
 * one of a channel waits for its token no other of that channel goes before it.
 */
export async function admitRows(
  tx: Tx,
  due: readonly Row[],
  request: AdmitRequest,
  now: Instant,
): Promise<{
  readonly admitted: readonly Row[];
  readonly refused: readonly Refused[];
  /** Of the admitted ones those that took no token, for another one of their channel did. */
  readonly shared: ReadonlySet<Row>;
}> {
  const uidOf = (row: Row): string => tx.dialect.id16Text(row['channel_uid']);
  const channels = [...new Set(due.filter(needsToken).map(uidOf))];
  const tats =
    channels.length === 0
      ? new Map<string, Instant>()
      : await lockRateLimits(
          tx,
          [globalScope, ...channels.map(channelScope)].flatMap((scope) => [scope, criticalScope(scope)]),
        );
  const charged = await countCharged(tx, channels, now);
  const criticalAt = due.some(yields) ? await listWaitingCriticals(tx, now) : new Map<string, Instant>();
  const admitted: Row[] = [];
  const refused: Refused[] = [];
  const waiting = new Map<string, number>();
  const taken = new Map<string, Instant>();
  const freeAts = new Map<string, Instant | undefined>();
  const shared = new Set<Row>();
  const paid = new Set<string>();
  for (const row of due) {
    if (request.room.isFull()) break;
    const uid = uidOf(row);
    if (!request.room.hasRoom(uid, String(row['kind']))) continue;
    const yieldsUntil = yields(row) ? criticalAt.get(uid) : undefined;
    if (yieldsUntil !== undefined) {
      refused.push({ row, scope: 'channel', nextAt: yieldsUntil });
      continue;
    }
    const isShared = needsToken(row) && paid.has(uid) && request.limitOf(uid).sharesToken === true;
    if (isShared) shared.add(row);
    const answer =
      needsToken(row) && !isShared
        ? // Serial: each token taken is one less for the next.
          await askForToken(tx, {
            row,
            uid,
            tats,
            count: charged.get(uid) ?? { inHour: 0, inMinute: 0 },
            request,
            now,
            freeAts,
          })
        : undefined;
    if (answer !== undefined && 'scope' in answer) {
      const key = answer.scope === 'global' ? globalScope : uid;
      const before = waiting.get(key) ?? 0;
      waiting.set(key, before + 1);
      refused.push({ row, scope: answer.scope, nextAt: Math.ceil(answer.earliestAt + before * answer.periodMs) });
      continue;
    }
    if (answer !== undefined) {
      paid.add(uid);
      for (const [scope, tat] of answer.tats) {
        tats.set(scope, tat);
        taken.set(scope, tat);
      }
      const count = charged.get(uid) ?? { inHour: 0, inMinute: 0 };
      charged.set(uid, { inHour: count.inHour + 1, inMinute: count.inMinute + 1 });
    }
    request.room.take(uid);
    admitted.push(row);
  }
  await putRateLimits(tx, taken);
  return { admitted, refused, shared };
}

type Answer =
  | { readonly tats: readonly (readonly [scope: string, tat: Instant])[] }
  | { readonly scope: Refused['scope']; readonly earliestAt: Instant; readonly periodMs: number };

/**
 * When the limits let one message more to a channel pass, and which of them holds it; undefined: at once. Nothing is taken: the question is
 * asked of the stored instants as they are.
 */
export async function findAdmission(
  db: Db,
  of: {
    readonly channelUid: string;
    readonly severity: string;
    readonly globalLimit: RateLimit;
    readonly limit: ChannelLimit;
    readonly at: Instant;
  },
): Promise<{ readonly scope: Refused['scope']; readonly at: Instant } | undefined> {
  const { channelUid, severity, globalLimit, limit, at } = of;
  const uid = toId16(channelUid);
  const scopes = [globalScope, channelScope(uid)].flatMap((scope) => [scope, criticalScope(scope)]);
  const [tats, charged] = [await listRateLimits(db, scopes), await countCharged(db, [uid], at)];
  const answer = await askForToken(db, {
    row: { severity },
    uid,
    tats,
    count: charged.get(uid) ?? { inHour: 0, inMinute: 0 },
    request: { globalLimit, limitOf: () => limit },
    now: at,
    freeAts: new Map(),
  });
  return 'scope' in answer ? { scope: answer.scope, at: answer.earliestAt } : undefined;
}

async function askForToken(
  db: Db,
  of: {
    readonly row: Row;
    readonly uid: string;
    readonly tats: ReadonlyMap<string, Instant>;
    readonly count: Charged;
    readonly request: Pick<AdmitRequest, 'globalLimit' | 'limitOf'>;
    readonly now: Instant;
    /** By channel, window and what was charged there: the same is asked once. */
    readonly freeAts: Map<string, Instant | undefined>;
  },
): Promise<Answer> {
  const { row, uid, tats, count, request, now, freeAts } = of;
  const limit = request.limitOf(uid);
  const own: RateLimit = { periodMs: hourMs / limit.maxPerHour, burst: limit.burst };
  const freeAt = async (windowMs: number, over: number): Promise<Instant> => {
    if (over < 0) return 0;
    const asked = `${uid} ${windowMs} ${over}`;
    if (!freeAts.has(asked)) freeAts.set(asked, await freeAgainAt(db, { uid, windowMs, over, now }));
    return freeAts.get(asked) ?? 0;
  };
  const ask = (scope: string, asked: RateLimit, freeFromAt: Instant): Token =>
    askScope({ scope, limit: asked, tats, now, freeFromAt, isCritical: row['severity'] === 'critical' });
  const all = ask(globalScope, request.globalLimit, 0);
  const one = ask(channelScope(uid), own, await freeAt(minuteMs, count.inMinute - limit.burst));
  const hourFreeAt = await freeAt(hourMs, count.inHour - limit.maxPerHour);
  const earliestAt = Math.max(all.earliestAt, one.earliestAt, hourFreeAt);
  if (earliestAt === 0) return { tats: [...all.tats, ...one.tats] };
  const isGlobal = one.earliestAt === 0 && hourFreeAt === 0;
  return isGlobal
    ? { scope: 'global', earliestAt, periodMs: request.globalLimit.periodMs }
    : { scope: 'channel', earliestAt, periodMs: own.periodMs };
}

/** A token of one limit. */
interface Token {
  /** 0: there is one now. */
  readonly earliestAt: Instant;
  /** To be stored when it is taken. */
  readonly tats: readonly (readonly [scope: string, tat: Instant])[];
}

/** From the limit itself, else, for a critical message, from what comes on top of it. `freeFromAt`: the limit has none before. */
function askScope(of: {
  readonly scope: string;
  readonly limit: RateLimit;
  readonly tats: ReadonlyMap<string, Instant>;
  readonly now: Instant;
  readonly freeFromAt: Instant;
  readonly isCritical: boolean;
}): Token {
  const { scope, limit, tats, now, freeFromAt, isCritical } = of;
  // 0: no message was ever charged.
  const tatOf = (name: string): Instant | undefined => tats.get(name) || undefined;
  const usual = admit(tatOf(scope), limit, now);
  const reserve = isCritical ? criticalReserve(limit) : undefined;
  const onTop = reserve && admit(tatOf(criticalScope(scope)), reserve, now);
  const spent = onTop?.allowed ? [[criticalScope(scope), onTop.tat] as const] : [];
  if (usual.allowed && freeFromAt === 0) return { earliestAt: 0, tats: [[scope, usual.tat], ...spent] };
  if (onTop?.allowed) return { earliestAt: 0, tats: spent };
  const usualAt = Math.max(earliestOf(usual), freeFromAt);
  return { earliestAt: onTop === undefined ? usualAt : Math.min(usualAt, earliestOf(onTop)), tats: [] };
}

function needsToken(row: Row): boolean {
  return row['kind'] !== 'test' && row['kind'] !== 'update' && row['charged_at'] === null;
}

/** Lets critical messages of its channel go first. */
function yields(row: Row): boolean {
  return needsToken(row) && row['severity'] !== 'critical';
}

/** When the last critical message of each channel gets the token that it waits for. */
async function listWaitingCriticals(tx: Tx, now: Instant): Promise<ReadonlyMap<string, Instant>> {
  const found = await rows(
    tx,
    `select channel_uid, max(next_at) as last_at from deliveries where state = 'ready' and priority = ${criticalPriority} ` +
      "and next_at > ? and state_reason = 'rateLimit' group by channel_uid",
    [now],
  );
  return new Map(found.map((row) => [tx.dialect.id16Text(row['channel_uid']), Number(row['last_at'])]));
}

function earliestOf(admission: Admission): Instant {
  return admission.allowed ? 0 : admission.earliestAt;
}

async function countCharged(db: Db, channels: readonly string[], now: Instant): Promise<Map<string, Charged>> {
  const found = await rowsIn(
    db,
    channels.map((uid) => db.dialect.id16(uid)),
    (marks) =>
      `select channel_uid, count(*) as in_hour, sum(case when charged_at > ? then 1 else 0 end) as in_minute ` +
      `from deliveries where channel_uid in (${marks}) and charged_at > ? group by channel_uid`,
    [now - minuteMs],
    [now - hourMs],
  );
  return new Map(
    found.map((row) => [
      db.dialect.id16Text(row['channel_uid']),
      { inHour: Number(row['in_hour']), inMinute: Number(row['in_minute']) },
    ]),
  );
}

/** When a channel that has `over` messages more than its maximum of a window less one takes one more. */
async function freeAgainAt(
  db: Db,
  of: { readonly uid: string; readonly windowMs: number; readonly over: number; readonly now: Instant },
): Promise<Instant> {
  const { uid, windowMs, over, now } = of;
  const row = await firstRow(
    db,
    `select charged_at from deliveries where channel_uid = ? and charged_at > ? order by charged_at limit 1 offset ${over}`,
    [db.dialect.id16(uid), now - windowMs],
  );
  // Those taken in this very claim are not in the rows yet.
  return (row === undefined ? now : Number(row['charged_at'])) + windowMs;
}
