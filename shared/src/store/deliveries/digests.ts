import { createHash } from 'node:crypto';
import type { AlertState, AlertSubject, AlertType, MessageSeverity, Severity } from '../../contract/index.ts';
import {
  dedupKeyOf,
  joinsStorms,
  stormTypes,
  type DigestCause,
  type Fault,
  type FrozenMessage,
  type Instant,
  type OpenDigest,
} from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, firstRow, insertRows, marks, rows, type Row } from '../ask.ts';
import { optionalNumber, optionalText } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toFault } from '../fault-columns.ts';
import { newId } from '../id16.ts';
import { keptMs } from './delivery-record.ts';
import { insertDelivery } from './insert-delivery.ts';
import { findStreamEnd } from './streams.ts';

/** An alert that a digest may gather, or has gathered. */
export interface GatheredAlert {
  readonly id: string;
  readonly cronJobId: number;
  readonly monitorId: number;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  /** On whose side it is; undefined: nothing tells. */
  readonly fault: Fault | undefined;
  readonly state: AlertState;
  readonly sinceAt: Instant;
  readonly endedAt: Instant | undefined;
  readonly notifyNo: number;
}

const selected =
  'select id, cronjob_id, monitor_id, namespace, cronjob_name, type, subject, severity, cause, scope, state, since_at, ended_at, notify_no from alerts';

/** What became active since `sinceAt` and joins storms, told or not. */
export async function listStormEntries(db: Db, sinceAt: Instant): Promise<GatheredAlert[]> {
  const found = await rows(
    db,
    `${selected} where state = 'active' and activated_at >= ? and type in (${marks(stormTypes)})`,
    [sinceAt, ...stormTypes],
  );
  return found.map((row) => toGathered(db, row)).filter(joinsStorms);
}

/** What a digest gathered that still is active, or that ended before any message told of it. */
export async function listGathered(db: Db, { id, openedAt }: OpenDigest): Promise<GatheredAlert[]> {
  const digest = db.dialect.id16(id);
  const [held, ended] = [
    await rows(db, `${selected} where state = 'active' and storm_id = ?`, [digest]),
    await rows(
      db,
      `${selected} where ended_at >= ? and storm_id = ? and notify_no = 0 and state in ('resolved', 'expired')`,
      [openedAt, digest],
    ),
  ];
  return [...held, ...ended].map((row) => toGathered(db, row));
}

const openDigests = 'select id, cause, opened_at, last_entry_at, told_at from digests';

export async function listOpenDigests(db: Db): Promise<OpenDigest[]> {
  const found = await rows(db, `${openDigests} where open_key is not null order by opened_at, id`);
  return found.map((row) => toOpenDigest(db, row));
}

function toOpenDigest(db: Db, row: Row): OpenDigest {
  return {
    id: db.dialect.id16Text(row['id']),
    cause: String(row['cause']) as DigestCause,
    openedAt: Number(row['opened_at']),
    lastEntryAt: Number(row['last_entry_at']),
    toldAt: optionalNumber(row['told_at']),
  };
}

/** The open digest of this cause, key and channel; undefined: there is none. Waits for others that ask for it. */
export async function findOpenDigest(
  tx: Tx,
  of: { readonly cause: DigestCause; readonly key: string; readonly channelUid: string | undefined },
): Promise<OpenDigest | undefined> {
  const row = await firstRow(tx, `${openDigests} where open_key = ?${tx.dialect.lock.update}`, [openKeyOf(tx, of)]);
  return row && toOpenDigest(tx, row);
}

/** Ends the digests by scope that were told and of which no alert is open any more: one of them, or all. */
export async function closeScopes(tx: Tx, digestId?: string): Promise<void> {
  const one = digestId === undefined ? [] : [tx.dialect.id16(digestId)];
  await change(
    tx,
    "update digests set closed_at = ?, open_key = null where cause = 'scope' and open_key is not null and told_at is not null " +
      `${one.length > 0 ? 'and id = ? ' : ''}and not exists (select 1 from deliveries d join alerts a on a.id = d.alert_id ` +
      'where d.stream_id = digests.id and a.live_key is not null)',
    [tx.now(), ...one],
  );
}

function openKeyOf(
  tx: Tx,
  of: { readonly cause: DigestCause; readonly key: string; readonly channelUid: string | undefined },
): unknown {
  return tx.dialect.id16([of.cause, of.key, of.channelUid].join('\n'));
}

/** Opens a digest; `isTold`: in the same transaction. `key`: what it gathers by, besides its cause and its channel. */
export async function insertDigest(
  tx: Tx,
  digest: Pick<OpenDigest, 'id' | 'cause'> & {
    readonly key: string;
    readonly channelUid: string | undefined;
    readonly total: number;
    /** It is over when it is told. */
    readonly isOver: boolean;
    readonly isTold: boolean;
  },
): Promise<OpenDigest> {
  const now = tx.now();
  const toldAt = digest.isTold ? now : undefined;
  const { id, cause, key, channelUid, isOver } = digest;
  await insertRows(tx, {
    table: 'digests',
    columns: [
      'id',
      'cause',
      'gathered_by',
      'channel_uid',
      'open_key',
      'opened_at',
      'last_entry_at',
      'told_at',
      'closed_at',
      'total',
    ],
    rows: [
      [
        tx.dialect.id16(id),
        cause,
        key,
        channelUid === undefined ? null : tx.dialect.id16(channelUid),
        isOver ? null : openKeyOf(tx, digest),
        now,
        now,
        toldAt ?? null,
        isOver ? now : null,
        digest.total,
      ],
    ],
  });
  return { id, cause, openedAt: now, lastEntryAt: now, toldAt };
}

/** So many alerts have joined an open digest. */
export async function updateJoined(tx: Tx, digestId: string, joined: number): Promise<void> {
  await change(tx, 'update digests set last_entry_at = ?, total = total + ? where id = ?', [
    tx.now(),
    joined,
    tx.dialect.id16(digestId),
  ]);
}

/** An open digest was told, and may be over with it. */
export async function updateTold(tx: Tx, digestId: string, { isOver }: { readonly isOver: boolean }): Promise<void> {
  const now = tx.now();
  const id = tx.dialect.id16(digestId);
  if (isOver)
    await change(tx, 'update digests set told_at = ?, closed_at = ?, open_key = null where id = ?', [now, now, id]);
  else await change(tx, 'update digests set told_at = ? where id = ?', [now, id]);
}

/** These alerts belong to the digest from now on: `storm_id` is the id of a digest, whatever its cause. */
export async function updateDigestOf(tx: Tx, alertIds: readonly string[], digestId: string): Promise<void> {
  if (alertIds.length === 0) return;
  const ids = alertIds.map((id) => tx.dialect.id16(id));
  await change(tx, `update alerts set storm_id = ? where id in (${marks(ids)})`, [tx.dialect.id16(digestId), ...ids]);
}

/** These alerts were told in their digest: no message of their own is owed. */
export async function updateToldInDigest(tx: Tx, alertIds: readonly string[]): Promise<void> {
  if (alertIds.length === 0) return;
  const ids = alertIds.map((id) => tx.dialect.id16(id));
  await change(tx, `update alerts set due_at = null, notify_no = notify_no + 1 where id in (${marks(ids)})`, ids);
}

/** Which alerts each channel, by UID, has been told of in this digest. */
export async function listToldInDigest(db: Db, digestId: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = await rows(db, 'select channel_uid, alert_id from deliveries where stream_id = ?', [
    db.dialect.id16(digestId),
  ]);
  const told = new Map<string, Set<string>>();
  for (const row of found) {
    const uid = db.dialect.id16Text(row['channel_uid']);
    const alerts = told.get(uid) ?? new Set();
    told.set(uid, alerts);
    if (row['alert_id'] !== null) alerts.add(db.dialect.id16Text(row['alert_id']));
  }
  return told;
}

export interface DigestTelling {
  readonly digestId: string;
  /** Each is written once for each channel. An update has the instant at which the digest was told before it. */
  readonly phase: 'begin' | 'end' | `update ${number}`;
  readonly channel: { readonly uid: string; readonly name: string };
  readonly children: readonly {
    readonly alertId: string;
    readonly cronJobId: number;
    readonly notifyNo: number;
    readonly severity: Exclude<MessageSeverity, 'info'>;
    /** `reminder`: it was told before, and still holds. */
    readonly kind: 'firing' | 'reminder' | 'closing';
  }[];
  readonly cause: DigestCause;
  readonly payload: FrozenMessage;
}

/**
 * One message to one channel about a digest, in the stream of the digest; its children are told in it, so that the end of the last of them
 * closes the stream. Told again it writes nothing. Undefined then.
 */
export async function insertDigestMessage(tx: Tx, telling: DigestTelling): Promise<string | undefined> {
  const { digestId, phase, channel, children, cause, payload } = telling;
  const now = tx.now();
  const dedupKey = createHash('sha256').update([digestId, 'digest', phase, channel.uid].join('\n')).digest('hex');
  if ((await firstRow(tx, 'select id from deliveries where dedup_key = ?', [dedupKey])) !== undefined) return undefined;
  const severity = children.some((child) => child.severity === 'critical') ? 'critical' : 'warning';
  const id = newId(now);
  const of = { streamId: digestId, digestId, channel, createdAt: now, nextAt: now, payload } as const;
  const expiresAt = now + keptMs(severity);
  let { nextSeq: seq } = await findStreamEnd(tx, digestId, channel.uid);
  const message = {
    ...of,
    id,
    seq: seq++,
    alertId: undefined,
    kind: 'digest',
    cause,
    severity,
    state: 'ready',
  } as const;
  if (!(await insertDelivery(tx, { ...message, dedupKey, notifyNo: 1, expiresAt }))) return undefined;
  for (const { alertId, cronJobId, notifyNo, severity: own, kind } of children) {
    const childId = newId(now);
    // Each has a place of its own in the stream; a digest is written once.
    const isNew = await insertDelivery(tx, {
      ...of,
      id: childId,
      seq: seq++,
      alertId,
      kind,
      severity: own,
      state: 'digested',
      mergedInto: id,
      dedupKey: dedupKeyOf({ alertId, kind: `digest ${phase}`, notifyNo, channelUid: channel.uid }),
      notifyNo,
      expiresAt,
    });
    if (!isNew) continue;
    await recordDecisions(tx, [
      {
        action: 'digested',
        reason: cause === 'firstPass' ? 'storm' : cause,
        detail: id,
        alertId,
        cronJobId,
        deliveryId: childId,
        channelUid: channel.uid,
      },
    ]);
  }
  return id;
}

function toGathered(db: Db, row: Row): GatheredAlert {
  return {
    id: db.dialect.id16Text(row['id']),
    cronJobId: Number(row['cronjob_id']),
    monitorId: Number(row['monitor_id']),
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    type: String(row['type']) as AlertType,
    subject: optionalText(row['subject']) as AlertSubject | undefined,
    severity: String(row['severity']) as Severity,
    fault: toFault(row),
    state: String(row['state']) as AlertState,
    sinceAt: Number(row['since_at']),
    endedAt: optionalNumber(row['ended_at']),
    notifyNo: Number(row['notify_no']),
  };
}
