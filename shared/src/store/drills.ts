import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DrillOutcome } from '../contract/index.ts';
import { headingOf, spanInWords, type DrillMessage, type DrillProof, type Instant } from '../domain/index.ts';
import { recordDecisions } from './alert-decisions.ts';
import { change, firstRow, insertRows, rows, type Row } from './ask.ts';
import { optionalCleanText, optionalNumber, optionalText, fromJson } from './column.ts';
import type { Db, Tx } from './database.ts';
import { insertDelivery } from './deliveries/insert-delivery.ts';
import type { StoredDeliveryError } from './deliveries/delivery-record.ts';
import { newId, toId16 } from './id16.ts';

/** Whether a person reads what arrives on a channel: one message, and what became of its link. */
export interface StoredDrill {
  readonly id: string;
  readonly channelUid: string;
  readonly deliveryId: string;
  readonly dueAt: Instant;
  readonly ackWithinMs: number;
  /** When the receiver accepted it. */
  readonly sentAt: Instant | undefined;
  readonly ackByAt: Instant | undefined;
  readonly ackedAt: Instant | undefined;
  readonly ackedBy: string | undefined;
  readonly outcome: DrillOutcome;
  /** Undefined: its schedule. */
  readonly askedBy: string | undefined;
}

/** What a drill says besides its own: `cluster.name` and `ui.external-url`. */
export interface DrillWords {
  readonly clusterName: string | undefined;
  readonly externalUrl: string | undefined;
}

interface Channel {
  readonly uid: string;
  readonly name: string;
}

const columns = [
  'id',
  'channel_uid',
  'delivery_id',
  'due_at',
  'ack_within_ms',
  'sent_at',
  'ack_by_at',
  'acked_at',
  'acked_by',
  'outcome',
  'asked_by',
];
const selected = columns.join(', ');
const hourMs = 3_600_000;
/** What no receiver takes within this time is not delivered. */
const [leastSendMs, mostSendMs] = [hourMs, 24 * hourMs];

/**
 * Writes a drill and its message. Undefined: the channel has one of that instant already, and nothing changed. Of the key only its SHA-256
 * is kept beside the message.
 */
export async function startDrill(
  tx: Tx,
  drill: {
    readonly channel: Channel;
    readonly dueAt: Instant;
    readonly ackWithinMs: number;
    readonly askedBy?: string | undefined;
  },
  words: DrillWords,
): Promise<StoredDrill | undefined> {
  const { channel, dueAt, ackWithinMs, askedBy } = drill;
  const now = tx.now();
  const [id, deliveryId] = [newId(now), newId(now)];
  const key = randomBytes(16).toString('hex');
  const inserted = await insertRows(tx, {
    table: 'drills',
    columns: [...columns, 'key_hash'],
    rows: [
      [
        tx.dialect.id16(id),
        tx.dialect.id16(toId16(channel.uid)),
        tx.dialect.id16(deliveryId),
        dueAt,
        ackWithinMs,
        null,
        null,
        null,
        null,
        'waiting',
        optionalCleanText(askedBy, 253),
        hashOf(key),
      ],
    ],
    tail: tx.dialect.ifAbsent(['channel_uid', 'due_at']),
  });
  if (inserted === 0) return undefined;
  const sendMs = Math.min(mostSendMs, Math.max(leastSendMs, ackWithinMs));
  const path = `/drills/${id}?key=${key}`;
  const base = baseOf(words);
  const within = spanInWords(ackWithinMs / 1_000);
  const how = base === undefined ? `Open ${path} in cronjob-monitor` : 'Press the link';
  await insertDrillMessage(tx, {
    id: deliveryId,
    streamId: deliveryId,
    seq: 1,
    channel,
    expiresAt: now + sendMs,
    askedBy,
    data: {
      cluster: words.clusterName ?? null,
      channel: channel.name,
      title: 'DRILL: press the link if you read this',
      message: `${how} within ${within}: it proves that messages of the channel ${channel.name} are read. Nothing is wrong.`,
      drill: { id, news: 'press', untilAt: new Date(now + sendMs + ackWithinMs).toISOString() },
      links: { drill: base === undefined ? null : `${base}${path}`, channel: channelLink(base, channel.name) },
    },
  });
  return {
    id,
    channelUid: toId16(channel.uid),
    deliveryId,
    dueAt,
    ackWithinMs,
    sentAt: undefined,
    ackByAt: undefined,
    ackedAt: undefined,
    ackedBy: undefined,
    outcome: 'waiting',
    askedBy,
  };
}

async function insertDrillMessage(
  tx: Tx,
  message: {
    readonly id: string;
    readonly streamId: string;
    readonly seq: number;
    readonly channel: Channel;
    readonly expiresAt: Instant;
    readonly askedBy?: string | undefined;
    readonly data: DrillMessage;
  },
): Promise<void> {
  const { id, streamId, seq, channel, expiresAt, askedBy, data } = message;
  const now = tx.now();
  const frozen = { kind: 'drill' as const, data };
  const heading = headingOf(frozen);
  const isNew = await insertDelivery(tx, {
    id,
    streamId,
    seq,
    alertId: undefined,
    channel,
    kind: 'drill',
    severity: heading.severity,
    state: 'ready',
    dedupKey: createHash('sha256').update(`drill\n${data.drill.id}\n${data.drill.news}`).digest('hex'),
    notifyNo: 0,
    nextAt: now,
    createdAt: now,
    expiresAt,
    payload: { message: frozen, heading, place: null },
  });
  if (!isNew) return;
  await recordDecisions(tx, [
    { action: 'queued', reason: 'drill', deliveryId: id, channelUid: channel.uid, byWhom: askedBy },
  ]);
}

function baseOf({ externalUrl }: DrillWords): string | undefined {
  return externalUrl?.replace(/\/+$/, '');
}

function channelLink(base: string | undefined, name: string): string | null {
  return base === undefined ? null : `${base}/channels/${encodeURIComponent(name)}`;
}

function hashOf(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** `unknown` does not tell whether there is such a drill. `proved` twice tells the first acknowledgement both times. */
export type Acknowledged =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'over'; readonly drill: StoredDrill }
  | { readonly kind: 'proved'; readonly drill: StoredDrill };

/** Who holds the key may acknowledge. The time begins when the receiver accepted the message, also where the leader has not written that yet. */
export async function acknowledgeDrill(
  tx: Tx,
  { id, key, by }: { readonly id: string; readonly key: string; readonly by: string | undefined },
): Promise<Acknowledged> {
  const bound = tx.dialect.id16(id);
  const row = await firstRow(
    tx,
    `select ${columns.map((column) => `r.${column}`).join(', ')}, r.key_hash, d.first_sent_at from drills r ` +
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
  const after = await firstRow(tx, `select ${selected} from drills where id = ?${tx.dialect.lock.update}`, [bound]);
  if (after === undefined) return { kind: 'unknown' };
  const told = toDrill(tx, after);
  return { kind: told.outcome === 'proved' ? 'proved' : 'over', drill: told };
}

/** Drills of a channel, the newest first. */
export async function listDrills(
  db: Db,
  channelUid: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly drills: readonly StoredDrill[]; readonly total: number }> {
  const uid = db.dialect.id16(toId16(channelUid));
  const found = await rows(
    db,
    `select ${selected} from drills where channel_uid = ? order by due_at desc, id desc limit ${page.limit} offset ${page.offset}`,
    [uid],
  );
  const counted = await firstRow(db, 'select count(*) as n from drills where channel_uid = ?', [uid]);
  return { drills: found.map((row) => toDrill(db, row)), total: Number(counted?.['n'] ?? 0) };
}

/** Of one channel; undefined: there is none. */
export async function findProof(db: Db, channelUid: string): Promise<DrillProof | undefined> {
  return [...(await listProofs(db, channelUid)).values()][0];
}

/** Of every channel that exists, or of one, by UID. */
export async function listProofs(db: Db, channelUid?: string): Promise<ReadonlyMap<string, DrillProof>> {
  const one = channelUid === undefined ? [] : [db.dialect.id16(toId16(channelUid))];
  const found = await rows(
    db,
    'select c.uid, c.proved_at, c.proved_by, r.outcome, r.due_at from channels c left join drills r on r.channel_uid = c.uid ' +
      "and r.outcome in ('reached', 'failed') and r.due_at > coalesce(c.proved_at, 0) " +
      "and not exists (select 1 from drills n where n.channel_uid = r.channel_uid and n.due_at > r.due_at and n.outcome in ('reached', 'failed')) " +
      `where c.deleted_at is null${one.length > 0 ? ' and c.uid = ?' : ''}`,
    one,
  );
  return new Map(
    found.map((row) => [
      db.dialect.id16Text(row['uid']),
      {
        provedAt: optionalNumber(row['proved_at']),
        provedBy: optionalText(row['proved_by']) ?? undefined,
        missed: missedIn(row),
      },
    ]),
  );
}

function missedIn({ outcome, due_at: dueAt }: Row): DrillProof['missed'] {
  return outcome === 'reached' || outcome === 'failed' ? { outcome, dueAt: Number(dueAt) } : undefined;
}

/** When each channel was drilled by its schedule last, by UID: the instant at which that drill was due. */
export async function listLastDrills(db: Db): Promise<ReadonlyMap<string, Instant>> {
  const found = await rows(
    db,
    'select channel_uid, max(due_at) as due_at from drills where asked_by is null group by channel_uid',
  );
  return new Map(found.map((row) => [db.dialect.id16Text(row['channel_uid']), Number(row['due_at'])]));
}

/** A drill that has ended now, with what follows from it. */
export interface EndedDrill {
  readonly drill: StoredDrill;
  /** What a failed one failed with; undefined: its time was over before it could be sent. */
  readonly error: string | undefined;
}

const mostAtOnce = 500;

/**
 * Moves drills by what became of their messages and by time: the link begins to be valid when the receiver has accepted the message, what is
 * acknowledged proves its channel, the rest ends. Returns those that have ended, each once in all.
 */
export async function moveDrills(tx: Tx): Promise<readonly EndedDrill[]> {
  const now = tx.now();
  const found = await rows(
    tx,
    `select ${columns.map((column) => `r.${column}`).join(', ')}, d.id as told, d.state, d.first_sent_at, d.last_error from drills r ` +
      `left join deliveries d on d.id = r.delivery_id where r.ended_at is null order by r.id limit ${mostAtOnce}`,
  );
  const ended: EndedDrill[] = [];
  for (const row of found) {
    // A few at a time: one for each channel and period.
    const drill = await followMessage(tx, row, toDrill(tx, row));
    const outcome = outcomeOf(drill, row, now);
    if (outcome === 'waiting') continue;
    const guard = outcome === 'proved' ? 'proved' : 'waiting';
    const changed = await change(
      tx,
      'update drills set outcome = ?, ended_at = ? where id = ? and ended_at is null and outcome = ?',
      [outcome, now, row['id'], guard],
    );
    // It was acknowledged in this moment: the next look ends it.
    if (changed === 0) continue;
    if (outcome === 'proved') await writeProof(tx, row['channel_uid'], drill);
    const error = fromJson(row['last_error']) as StoredDeliveryError | undefined;
    ended.push({ drill: { ...drill, outcome }, error: error?.message });
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

/** Ends what a drill opened at a receiver that keeps what is open: a paging service, an Alertmanager. */
export async function closeDrill(tx: Tx, drill: StoredDrill, channel: Channel, words: DrillWords): Promise<void> {
  const base = baseOf(words);
  const now = tx.now();
  await insertDrillMessage(tx, {
    id: newId(now),
    streamId: drill.deliveryId,
    seq: 2,
    channel,
    expiresAt: now + mostSendMs,
    data: {
      cluster: words.clusterName ?? null,
      channel: channel.name,
      title: 'DRILL: press the link if you read this',
      message: drill.outcome === 'proved' ? 'It is acknowledged.' : 'It is over.',
      drill: { id: drill.id, news: 'over', untilAt: new Date(now).toISOString() },
      links: { drill: null, channel: channelLink(base, channel.name) },
    },
  });
}

/** Tells another channel that a drill proved nothing. */
export async function tellUnproved(
  tx: Tx,
  { drill, error }: EndedDrill,
  of: { readonly channel: Channel; readonly fallback: Channel; readonly provedAt: Instant | undefined },
  words: DrillWords,
): Promise<void> {
  const { channel, fallback, provedAt } = of;
  const base = baseOf(words);
  const now = tx.now();
  const id = newId(now);
  const since = provedAt === undefined ? 'has never been proved' : `has not been proved since ${dayOf(provedAt)}`;
  const within = spanInWords(drill.ackWithinMs / 1_000);
  const what =
    drill.outcome === 'failed'
      ? `could not be delivered${error === undefined ? ' in time' : `: ${error}`}`
      : `was delivered, and its link was not pressed within ${within}`;
  await insertDrillMessage(tx, {
    id,
    streamId: id,
    seq: 1,
    channel: fallback,
    expiresAt: now + mostSendMs,
    data: {
      cluster: words.clusterName ?? null,
      channel: channel.name,
      title: `NOT PROVED: ${channel.name} ${since}`,
      message: `The drill of ${dayOf(drill.dueAt)} ${what}. Messages of the channel ${channel.name} may reach no person.`,
      drill: { id: drill.id, news: 'unproved', untilAt: new Date(now + mostSendMs).toISOString() },
      links: { drill: null, channel: channelLink(base, channel.name) },
    },
  });
}

function dayOf(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Removes drills that were due before `before` and have ended. */
export async function forgetDrills(tx: Tx, before: Instant, limit: number): Promise<number> {
  const where = 'due_at < ? and ended_at < ?';
  return change(tx, tx.dialect.deleteBatch({ table: 'drills', where, limit }), [before, before]);
}

function toDrill(db: Db, row: Row): StoredDrill {
  return {
    id: db.dialect.id16Text(row['id']),
    channelUid: db.dialect.id16Text(row['channel_uid']),
    deliveryId: db.dialect.id16Text(row['delivery_id']),
    dueAt: Number(row['due_at']),
    ackWithinMs: Number(row['ack_within_ms']),
    sentAt: optionalNumber(row['sent_at']),
    ackByAt: optionalNumber(row['ack_by_at']),
    ackedAt: optionalNumber(row['acked_at']),
    ackedBy: optionalText(row['acked_by']) ?? undefined,
    outcome: String(row['outcome']) as DrillOutcome,
    askedBy: optionalText(row['asked_by']) ?? undefined,
  };
}
