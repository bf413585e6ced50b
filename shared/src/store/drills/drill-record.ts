import { createHash } from 'node:crypto';
import type { DrillOutcome } from '../../contract/index.ts';
import type { DrillProof, Instant } from '../../domain/index.ts';
import { change, firstRow, rows, type Row } from '../ask.ts';
import { optionalNumber, optionalText } from '../column.ts';
import type { Db, Tx } from '../database.ts';

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

export const drillColumns = [
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
const selected = drillColumns.join(', ');

/** The SHA-256 of a drill link's key: the key itself is not stored. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** Drills of a channel, the newest first. */
export async function listDrills(
  db: Db,
  channelUid: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly drills: readonly StoredDrill[]; readonly total: number }> {
  const uid = db.dialect.id16(channelUid);
  const found = await rows(
    db,
    `select ${selected} from drills where channel_uid = ? order by due_at desc, id desc limit ${page.limit} offset ${page.offset}`,
    [uid],
  );
  const counted = await firstRow(db, 'select count(*) as n from drills where channel_uid = ?', [uid]);
  return { drills: found.map((row) => toDrill(db, row)), total: Number(counted?.['n'] ?? 0) };
}

/** The channel's drill; undefined: the channel has no drill. */
export async function findProof(db: Db, channelUid: string): Promise<DrillProof | undefined> {
  return [...(await listProofs(db, channelUid)).values()][0];
}

/** Of every channel that exists, or of one, by UID. */
export async function listProofs(db: Db, channelUid?: string): Promise<ReadonlyMap<string, DrillProof>> {
  const one = channelUid === undefined ? [] : [db.dialect.id16(channelUid)];
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

/** Removes drills that were due before `before` and have ended. */
export async function forgetDrills(tx: Tx, before: Instant, limit: number): Promise<number> {
  const where = 'due_at < ? and ended_at < ?';
  return change(tx, tx.dialect.deleteBatch({ table: 'drills', where, limit }), [before, before]);
}

export function toDrill(db: Db, row: Row): StoredDrill {
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
