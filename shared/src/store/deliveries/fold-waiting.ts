import type {
  AlertState,
  AlertSubject,
  AlertType,
  ChannelType,
  DeliveryKind,
  MessageSeverity,
  Severity,
} from '../../contract/index.ts';
import { dayMs, type DigestedAlert, foldable, type FrozenMessage } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { change, firstRow, inParts, marks, type Row, rows } from '../ask.ts';
import { idOrUndefined, optionalNumber, optionalText } from '../column.ts';
import type { Tx } from '../database.ts';
import { newId } from '../id16.ts';
import { rowsIn } from '../upsert.ts';
import { type ClaimedDelivery, decisionRefs, recordDeliveryChanges } from './delivery-record.ts';
import { insertDigest, updateTold } from './digests.ts';
import { findStreamEnd } from './streams.ts';
import { insertDelivery } from './insert-delivery.ts';

/** More than this is left for the next digest. */
const mostFolded = 5_000;

const selectWaiting = 'select id, alert_id, channel_uid, channel_name, kind, severity, created_at from deliveries ';

export interface FoldRequest {
  /** As in the claim. */
  readonly claimedBy: string;
  readonly channel: { readonly type: ChannelType; readonly burst: number };
  /** Words the digest of these alerts: it runs inside the transaction and waits for nothing. */
  readonly freeze: (id: string, alerts: readonly DigestedAlert[], of: FoldedOf) => FrozenMessage;
}

/** What a digest folds by. `scope`: of that cause. `before`: alerts that its channel was told of in it already. */
interface FoldedOf {
  readonly scope: string | undefined;
  readonly before: number;
}

interface Folded {
  readonly digest: ClaimedDelivery;
  /** How many messages of each kind it replaces. */
  readonly kinds: ReadonlyMap<DeliveryKind, number>;
}

/**
 * Replaces what has waited too long for a channel's rate limit, the claimed message among it, by one digest. The digest is claimed in the
 * place of that message, with its token and its time. Undefined: not so many wait, or the claim is not ours any more.
 */
export async function foldWaiting(tx: Tx, claimed: ClaimedDelivery, request: FoldRequest): Promise<Folded | undefined> {
  const now = tx.now();
  const own = await lockOwn(tx, claimed, request.claimedBy);
  if (own === undefined) return undefined;
  const waiting = await rows(
    tx,
    selectWaiting +
      "where channel_uid = ? and created_at > ? and state = 'ready' and state_reason = 'rateLimit' and kind not in ('test', 'digest', 'drill') " +
      `order by created_at, id limit ${mostFolded}${tx.dialect.lock.claim}`,
    [own['channel_uid'], now - 3 * dayMs],
  );
  const candidates = [own, ...waiting].map((row) => ({
    row,
    id: tx.dialect.id16Text(row['id']),
    severity: String(row['severity']) as MessageSeverity,
    createdAt: Number(row['created_at']),
  }));
  const folded = foldable(candidates, request.channel, now);
  if (!folded.some(({ row }) => row === own)) return undefined;

  const id = newId(now);
  const rowsFolded = folded.map(({ row }) => row);
  const alerts = await listDigested(tx, rowsFolded);
  const payload = request.freeze(id, alerts, { scope: undefined, before: 0 });
  const severity = folded.some((each) => each.severity === 'warning') ? 'warning' : 'info';
  await insertDigest(tx, {
    id,
    cause: 'rateLimit',
    key: '',
    channelUid: claimed.channelUid,
    total: alerts.length,
    isOver: true,
    isTold: true,
  });
  const digest = await insertClaimed(tx, {
    id,
    streamId: id,
    seq: 1,
    cause: 'rateLimit',
    claimed,
    claimedBy: request.claimedBy,
    own,
    payload,
    severity,
  });
  await markDigested(tx, rowsFolded, { id, reason: 'rateLimit' });
  return { digest, kinds: countKinds(rowsFolded) };
}

function countKinds(folded: readonly Row[]): Folded['kinds'] {
  const kinds = Map.groupBy(folded, (row) => String(row['kind']) as DeliveryKind);
  return new Map([...kinds].map(([kind, of]) => [kind, of.length]));
}

/**
 * Replaces what waits in a digest by scope, the claimed message among it, by one message in the stream of the digest. Undefined: it is the
 * only one, of an alert that is open, and says more by itself; or the claim is not ours any more.
 */
export async function foldScope(tx: Tx, claimed: ClaimedDelivery, request: FoldRequest): Promise<Folded | undefined> {
  const { digestId } = claimed;
  const own = await lockOwn(tx, claimed, request.claimedBy);
  if (own === undefined || digestId === undefined) return undefined;
  const digestRow = tx.dialect.id16(digestId);
  const waiting = await rows(
    tx,
    selectWaiting +
      "where stream_id = ? and channel_uid = ? and state = 'ready' and cause = 'scope' and kind <> 'digest' and attempts = 0 " +
      `order by seq limit ${mostFolded}${tx.dialect.lock.update}`,
    [digestRow, own['channel_uid']],
  );
  const folded = [own, ...waiting];
  const alerts = await listDigested(tx, folded);
  const told = await firstRow(tx, 'select gathered_by from digests where id = ?', [digestRow]);
  await updateTold(tx, digestId, { isOver: false });
  if (folded.length === 1 && alerts[0]?.endedAt === null) return undefined;
  const before = await firstRow(
    tx,
    "select count(*) as n from deliveries where stream_id = ? and channel_uid = ? and alert_id is not null and state in ('digested', 'sent')",
    [digestRow, own['channel_uid']],
  );
  const id = newId(tx.now());
  const scope = (optionalText(told?.['gathered_by']) ?? '').split(' ').slice(1).join(' ');
  const payload = request.freeze(digestId, alerts, { scope, before: Number(before?.['n'] ?? 0) });
  const severity = alerts.some((alert) => alert.severity === 'critical') ? 'critical' : 'warning';
  const { nextSeq: seq } = await findStreamEnd(tx, digestId, claimed.channelUid);
  const digest = await insertClaimed(tx, {
    id,
    streamId: digestId,
    seq,
    cause: 'scope',
    claimed,
    claimedBy: request.claimedBy,
    own,
    payload,
    severity,
  });
  await markDigested(tx, folded, { id, reason: 'scope' });
  return { digest, kinds: countKinds(folded) };
}

async function lockOwn(tx: Tx, claimed: ClaimedDelivery, claimedBy: string): Promise<Row | undefined> {
  return firstRow(
    tx,
    'select id, alert_id, channel_uid, channel_name, kind, severity, created_at, charged_at, claim_until from deliveries ' +
      `where id = ? and claimed_by = ? and epoch = ? and state = 'claimed'${tx.dialect.lock.update}`,
    [tx.dialect.id16(claimed.id), claimedBy, tx.epoch ?? null],
  );
}

/** Each alert once, as it is now. */
async function listDigested(tx: Tx, folded: readonly Row[]): Promise<DigestedAlert[]> {
  const ids = new Map(
    folded.flatMap((row) =>
      row['alert_id'] === null ? [] : [[tx.dialect.id16Text(row['alert_id']), row['alert_id']] as const],
    ),
  );
  const found = await rowsIn(
    tx,
    [...ids.values()],
    (values) =>
      `select id, type, subject, severity, namespace, cronjob_name, since_at, state, ended_at from alerts where id in (${values})`,
  );
  return found.map((row) => ({
    id: tx.dialect.id16Text(row['id']),
    type: String(row['type']) as AlertType,
    subject: (optionalText(row['subject']) ?? null) as AlertSubject | null,
    severity: String(row['severity']) as Severity,
    namespace: String(row['namespace']),
    name: String(row['cronjob_name']),
    since: new Date(Number(row['since_at'])).toISOString(),
    state: String(row['state']) as AlertState,
    endedAt: row['ended_at'] === null ? null : new Date(Number(row['ended_at'])).toISOString(),
  }));
}

async function insertClaimed(
  tx: Tx,
  of: {
    readonly id: string;
    readonly streamId: string;
    readonly seq: number;
    readonly cause: 'rateLimit' | 'scope';
    readonly claimed: ClaimedDelivery;
    readonly claimedBy: string;
    readonly own: Row;
    readonly payload: FrozenMessage;
    readonly severity: MessageSeverity;
  },
): Promise<ClaimedDelivery> {
  const { id, streamId, seq, cause, claimed, claimedBy, own, payload, severity } = of;
  const now = tx.now();
  const expiresAt = now + dayMs;
  await insertDelivery(tx, {
    id,
    streamId,
    seq,
    alertId: undefined,
    channel: { uid: claimed.channelUid, name: claimed.channelName },
    kind: 'digest',
    cause,
    severity,
    state: 'ready',
    dedupKey: id,
    notifyNo: 1,
    nextAt: now,
    createdAt: now,
    expiresAt,
    payload,
  });
  await change(
    tx,
    "update deliveries set claimed_by = ?, claim_until = ?, epoch = ?, attempts = 1, charged_at = ?, state = 'claimed' where id = ?",
    [
      claimedBy,
      optionalNumber(own['claim_until']),
      tx.epoch ?? null,
      optionalNumber(own['charged_at']) ?? now,
      tx.dialect.id16(id),
    ],
  );
  return {
    ...claimed,
    id,
    streamId,
    alertId: undefined,
    digestId: undefined,
    kind: 'digest',
    cause,
    severity,
    notifyNo: 1,
    attempts: 1,
    maybeSent: false,
    heldBy: undefined,
    reduced: false,
    createdAt: now,
    expiresAt,
    progress: undefined,
    payload,
  };
}

async function markDigested(
  tx: Tx,
  folded: readonly Row[],
  { id: digestId, reason }: { readonly id: string; readonly reason: 'rateLimit' | 'scope' },
): Promise<void> {
  const now = tx.now();
  for (const part of inParts(folded)) {
    const ids = part.map((row) => row['id']);
    await change(
      tx,
      `update deliveries set merged_into = ?, state_reason = null, next_at = null, claimed_by = null, claim_until = null, ended_at = ?, state = 'digested' where id in (${marks(ids)})`,
      [tx.dialect.id16(digestId), now, ...ids],
    );
    await recordDecisions(
      tx,
      part.map((row) => ({
        action: 'digested',
        reason,
        detail: digestId,
        ...decisionRefs(tx, row),
      })),
    );
    await recordDeliveryChanges(
      tx,
      part.map((row) => ({
        id: tx.dialect.id16Text(row['id']),
        alertId: idOrUndefined(tx, row['alert_id']),
        channelName: String(row['channel_name']),
        kind: String(row['kind']) as ClaimedDelivery['kind'],
        state: 'digested',
      })),
    );
  }
}
