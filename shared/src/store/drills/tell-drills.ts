import { createHash, randomBytes } from 'node:crypto';
import { headingOf, spanInWords, type DrillMessage, type Instant, hourMs } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { insertRows } from '../ask.ts';
import { optionalCleanText } from '../column.ts';
import type { Tx } from '../database.ts';
import { insertDelivery } from '../deliveries/insert-delivery.ts';
import { newId, toId16 } from '../id16.ts';
import { drillColumns, hashOf, type StoredDrill } from './drill-record.ts';
import type { EndedDrill } from './move-drills.ts';

/** `cluster.name` and `ui.external-url` for the messages of a drill. */
interface DrillWords {
  readonly clusterName: string | undefined;
  readonly externalUrl: string | undefined;
}

interface Channel {
  readonly uid: string;
  readonly name: string;
}

const pressTitle = 'DRILL: press the link if you read this';
/** A drill message that is not accepted within this time is given up. */
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
    columns: [...drillColumns, 'key_hash'],
    rows: [
      [
        tx.dialect.id16(id),
        tx.dialect.id16(channel.uid),
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
    channel,
    expiresAt: now + sendMs,
    askedBy,
    data: {
      cluster: words.clusterName ?? null,
      channel: channel.name,
      title: pressTitle,
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
    /** Absent: it begins one. */
    readonly streamId?: string;
    readonly seq?: number;
    readonly channel: Channel;
    readonly expiresAt: Instant;
    readonly askedBy?: string | undefined;
    /** Of what there is no second message. Absent: of its drill. */
    readonly toldOnce?: string;
    readonly data: DrillMessage;
  },
): Promise<void> {
  const { id, streamId = id, seq = 1, channel, expiresAt, askedBy, data, toldOnce = data.drill.id } = message;
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
    dedupKey: createHash('sha256').update(`drill\n${toldOnce}\n${data.drill.news}`).digest('hex'),
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
      title: pressTitle,
      message: drill.outcome === 'proved' ? 'It is acknowledged.' : 'It is over.',
      drill: { id: drill.id, news: 'over', untilAt: new Date(now).toISOString() },
      links: { drill: null, channel: channelLink(base, channel.name) },
    },
  });
}

/** Tells another channel that a drill proved nothing: once in the period that began at `periodAt`. */
export async function tellUnproved(
  tx: Tx,
  { drill, error }: EndedDrill,
  of: {
    readonly channel: Channel;
    readonly fallback: Channel;
    readonly provedAt: Instant | undefined;
    readonly periodAt: Instant;
  },
  words: DrillWords,
): Promise<void> {
  const { channel, fallback, provedAt, periodAt } = of;
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
    channel: fallback,
    expiresAt: now + mostSendMs,
    toldOnce: `${channel.uid}\n${periodAt}`,
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
