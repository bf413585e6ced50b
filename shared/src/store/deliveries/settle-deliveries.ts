import type {
  AlertType,
  DeliveryKind,
  DeliveryState,
  DeliveryStateReason,
  MessageSeverity,
  Severity,
} from '../../contract/index.ts';
import { afterRefusedUpdate, type ChannelAnswer, hourMs, type Instant, nextDeliveryState } from '../../domain/index.ts';
import { type AlertDecision, recordDecisions } from '../alert-decisions.ts';
import { change, marks, type Row, rows } from '../ask.ts';
import { idOrUndefined, optionalNumber, optionalText, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { rowsIn } from '../upsert.ts';
import { promoteTwin } from './cancel-delivery.ts';
import {
  firstNoticeCause,
  newChannelCause,
  recordDeliveryChanges,
  type StoredDeliveryError,
} from './delivery-record.ts';
import { type ChannelSettled, settleChannels } from './settle-channels.ts';

interface SettleRequest {
  readonly deliveryId: string;
  /** As in the claim. */
  readonly claimedBy: string;
  /** Of the claim: a later one of the same sender is another. Absent: whichever it has. */
  readonly claimUntil?: Instant | undefined;
  readonly settlement: Settlement;
  /** How long the attempt took. Absent: nothing was tried. */
  readonly tookMs?: number | undefined;
}

/** Undefined instead: the claim is not ours any more, and nothing was written. */
export interface Settled {
  readonly channel: ChannelSettled;
  readonly kind: DeliveryKind;
  /** A closing that is the first message about its alert to its channel. */
  readonly isFirstNotice: boolean;
  readonly state: DeliveryState;
  readonly severity: MessageSeverity;
  /** Of the alert it told of; undefined for tests and digests. */
  readonly alert:
    | {
        readonly id: string;
        readonly type: AlertType;
        readonly severity: Severity;
        readonly namespace: string;
        readonly cronJobName: string;
      }
    | undefined;
}

/** A message whose claim is ours, with what it becomes. */
interface Settling {
  readonly request: SettleRequest;
  readonly row: Row;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
}

/**
 * Writes what became of messages, with all that follows from it: figures and holds of their channels, the instants at which alerts were
 * told, the ledger. Each only while its claim is ours: by sender, epoch and state. Answers in the order of the requests. However many
 * there are it is about ten statements: answers that arrive together are settled together.
 */
export async function settleDeliveries(
  tx: Tx,
  requests: readonly SettleRequest[],
): Promise<readonly (Settled | undefined)[]> {
  const now = tx.now();
  const seen = await findClaimed(tx, requests);
  const told = await listToldAlerts(tx, seen);
  // Alerts are locked before deliveries, everywhere; the rows that other settlements wait for come last.
  if (told.length > 0 && !tx.dialect.isAlone) {
    await rows(tx, `select id from alerts where id in (${marks(told)}) order by id${tx.dialect.lock.update}`, told);
  }
  const owned = await lockOwned(tx, seen);
  await moveRows(tx, owned, now);
  for (const { request, row } of owned) {
    // Few are taken back so late, and fewer have twins.
    if (request.settlement.kind === 'unwanted' && row['collapse_key'] !== null) {
      await promoteTwin(tx, request.deliveryId, now);
    }
  }
  const reached = owned.length === seen.length ? told : await listToldAlerts(tx, owned);
  if (reached.length > 0) {
    await change(
      tx,
      `update alerts set last_notified_at = ? where id in (${marks(reached)}) and (last_notified_at is null or last_notified_at < ?)`,
      [now, ...reached, now],
    );
  }
  await recordDecisions(
    tx,
    owned.flatMap((one) => decisionsOf(tx, one)),
  );
  await recordDeliveryChanges(
    tx,
    owned.map(({ request, row, kind, state }) => ({
      id: request.deliveryId,
      alertId: idOrUndefined(tx, row['alert_id']),
      channelName: String(row['channel_name']),
      kind,
      state,
    })),
  );
  const channels = await settleChannels(
    tx,
    owned.map(({ request: { settlement }, row, kind }) => ({
      uid: row['channel_uid'],
      counts: kind === 'test' ? 'test' : kind === 'drill' ? 'nothing' : 'message',
      answer: answerOf(settlement, kind),
      error: settlement.kind === 'failed' ? settlement.error.message : undefined,
    })),
  );
  const settled = new Map(owned.map((one, index) => [one.request, toSettled(tx, one, channels[index])]));
  return requests.map((request) => settled.get(request));
}

/** The same for one. */
export async function settleDelivery(tx: Tx, request: SettleRequest): Promise<Settled | undefined> {
  return (await settleDeliveries(tx, [request]))[0];
}

/** The messages whose claims are ours, with the alerts they tell of. */
async function findClaimed(tx: Tx, requests: readonly SettleRequest[]): Promise<Settling[]> {
  const asked = new Map(requests.map((request) => [toId16(request.deliveryId), request]));
  const found = await rowsIn(
    tx,
    [...asked.keys()].toSorted().map((id) => tx.dialect.id16(id)),
    (ids) =>
      'select d.id, d.alert_id, d.channel_uid, d.channel_name, d.kind, d.cause, d.severity, d.collapse_key, d.created_at, d.attempts, d.claimed_by, d.claim_until, ' +
      'a.type as alert_type, a.severity as alert_severity, a.cronjob_id, a.namespace, a.cronjob_name ' +
      'from deliveries d left join alerts a on a.id = d.alert_id ' +
      `where d.state = 'claimed' and d.epoch = ? and d.id in (${ids}) order by d.id`,
    [tx.epoch ?? null],
  );
  return found.flatMap((row) => {
    const request = asked.get(tx.dialect.id16Text(row['id']));
    if (request === undefined || !isClaimOf(row, request)) return [];
    const kind = String(row['kind']) as DeliveryKind;
    return [{ request, row, kind, state: stateAfter(request.settlement, kind, Number(row['attempts'])) }];
  });
}

/** Locks the deliveries that are still as they were read, so that no sender can take them any more. */
async function lockOwned(tx: Tx, seen: readonly Settling[]): Promise<readonly Settling[]> {
  if (tx.dialect.isAlone) return seen;
  const locked = await rowsIn(
    tx,
    seen.map(({ row }) => row['id']),
    (ids) =>
      `select id, claimed_by, claim_until from deliveries where state = 'claimed' and epoch = ? and id in (${ids}) order by id${tx.dialect.lock.update}`,
    [tx.epoch ?? null],
  );
  const claims = new Map(locked.map((row) => [tx.dialect.id16Text(row['id']), row]));
  return seen.filter(({ row, request }) => {
    const claim = claims.get(tx.dialect.id16Text(row['id']));
    return claim !== undefined && isClaimOf(claim, request);
  });
}

function isClaimOf(row: Row, { claimedBy, claimUntil }: SettleRequest): boolean {
  return row['claimed_by'] === claimedBy && (claimUntil === undefined || Number(row['claim_until']) === claimUntil);
}

/** Writes deliveries with equal new values in one statement: usually those that arrived. */
async function moveRows(tx: Tx, owned: readonly Settling[], now: Instant): Promise<void> {
  const groups = Map.groupBy(
    owned.map(({ request, row, state }) => {
      const values = valuesAfter(request.settlement, state, now);
      return { id: row['id'], values, givesBack: spendsNothing(request.settlement) };
    }),
    ({ values, givesBack }) => JSON.stringify([givesBack, values]),
  );
  for (const [first, ...more] of groups.values()) {
    if (first === undefined) continue;
    const ids = [first, ...more].map(({ id }) => id);
    const sets = first.values.map(([column]) => `"${column}" = ?`).join(', ');
    await change(
      tx,
      `update deliveries set ${first.givesBack ? 'attempts = attempts - 1, ' : ''}${sets} where id in (${marks(ids)})`,
      [...first.values.map(([, value]) => value), ...ids],
    );
  }
}

const digestReachMs = 72 * hourMs;

/** Alerts that messages which arrived have told of: their own, and those of messages merged into them. */
async function listToldAlerts(tx: Tx, settling: readonly Settling[]): Promise<unknown[]> {
  const telling = settling.filter(
    ({ request, kind, row }) => request.settlement.kind === 'delivered' && tellsOf(kind, row),
  );
  const own = telling.map(({ row }) => row['alert_id']).filter((id) => id !== null);
  const merged: unknown[] = [];
  for (const { row } of telling.filter(({ kind }) => kind === 'digest')) {
    // Digests are few.
    const found = await rows(
      tx,
      'select distinct alert_id from deliveries where channel_uid = ? and created_at > ? and merged_into = ? and alert_id is not null',
      [row['channel_uid'], Number(row['created_at']) - digestReachMs, row['id']],
    );
    merged.push(...found.map((each) => each['alert_id']));
  }
  const twins = telling.filter(({ row, kind }) => kind !== 'digest' && row['collapse_key'] !== null);
  if (twins.length > 0) {
    const keys = [...new Set(twins.map(({ row }) => row['collapse_key']))];
    const found = await rowsIn(
      tx,
      twins.map(({ row }) => row['id']),
      (ids) =>
        `select distinct alert_id from deliveries where collapse_key in (${marks(keys)}) and merged_into in (${ids}) and alert_id is not null`,
      keys,
    );
    merged.push(...found.map((each) => each['alert_id']));
  }
  return [...new Map([...own, ...merged].map((id) => [tx.dialect.id16Text(id), id])).values()];
}

/**
 * A closing says that it is over, unless it is the first that its channel hears; an update and a test tell nothing new of any alert, and to
 * one channel more what the others know.
 */
function tellsOf(kind: DeliveryKind, row: Row): boolean {
  if (row['cause'] === newChannelCause) return false;
  return (kind !== 'closing' || isFirstNotice(row)) && kind !== 'test' && kind !== 'drill' && kind !== 'update';
}

function isFirstNotice(row: Row): boolean {
  return row['cause'] === firstNoticeCause;
}

function decisionsOf(tx: Tx, { row, request, state }: Settling): AlertDecision[] {
  const { settlement, tookMs } = request;
  const of = {
    deliveryId: tx.dialect.id16Text(row['id']),
    channelUid: tx.dialect.id16Text(row['channel_uid']),
    alertId: idOrUndefined(tx, row['alert_id']),
    cronJobId: optionalNumber(row['cronjob_id']),
  };
  if (settlement.kind === 'delivered') {
    const { httpStatus } = settlement;
    const reason = httpStatus === undefined ? undefined : String(httpStatus);
    return [{ ...of, action: 'sent', reason, tookMs }];
  }
  if (settlement.kind === 'unwanted') return [{ ...of, action: 'cancelled', reason: settlement.reason }];
  if (settlement.kind !== 'failed') return [];
  const { error } = settlement;
  const detail = error.httpStatus === null ? error.message : `${error.httpStatus}: ${error.message}`;
  const failed: AlertDecision = { ...of, action: 'attemptFailed', reason: error.category, detail, tookMs };
  if (state === 'dead') return [failed, { ...of, action: 'dead', reason: 'rejected' }];
  if (state === 'cancelled') return [failed, { ...of, action: 'cancelled', reason: 'notTaken' }];
  if (state === 'parked') return [failed, { ...of, action: 'parked', reason: error.category }];
  return [failed];
}

function toSettled(tx: Tx, { row, kind, state }: Settling, channel: ChannelSettled | undefined): Settled {
  if (channel === undefined) throw new RangeError('each message has a channel');
  const id = idOrUndefined(tx, row['alert_id']);
  const type = optionalText(row['alert_type']);
  return {
    channel,
    kind,
    isFirstNotice: isFirstNotice(row),
    state,
    severity: String(row['severity']) as MessageSeverity,
    alert:
      id === undefined || type === undefined
        ? undefined
        : {
            id,
            type: type as AlertType,
            severity: String(row['alert_severity']) as Severity,
            namespace: String(row['namespace']),
            cronJobName: String(row['cronjob_name']),
          },
  };
}

export type Settlement =
  | { readonly kind: 'delivered'; readonly httpStatus?: number | undefined; readonly progress?: unknown }
  /** Some recipients are done with, the others are tried again. */
  | { readonly kind: 'unfinished'; readonly nextAt: Instant; readonly progress: unknown }
  | {
      readonly kind: 'failed';
      /** `retry` at `nextAt`; `reduce` at once in the reduced form; `invalid`: nothing was tried and no attempt is spent. */
      readonly next: 'retry' | 'reduce' | 'park' | 'invalid' | 'dead';
      readonly nextAt?: Instant | undefined;
      readonly error: Omit<StoredDeliveryError, 'at'>;
      readonly maybeSent: boolean;
      readonly progress?: unknown;
    }
  /** Put back unsent: no attempt is spent and no channel failed. */
  | { readonly kind: 'putBack'; readonly nextAt: Instant; readonly reason?: DeliveryStateReason | undefined }
  | { readonly kind: 'unwanted'; readonly reason: string };

/** The state of a message after it. A test is tried once: the person who made it waits for the answer. `attempts`: this one included. */
function stateAfter(settlement: Settlement, kind: DeliveryKind, attempts: number): DeliveryState {
  if (settlement.kind === 'delivered') return nextDeliveryState('claimed', 'deliver');
  if (settlement.kind === 'unwanted') return nextDeliveryState('claimed', 'cancel');
  if (settlement.kind === 'putBack') return nextDeliveryState('claimed', 'retry');
  if (kind === 'update' && settlement.kind === 'failed') {
    return nextDeliveryState('claimed', afterRefusedUpdate(settlement.next, attempts));
  }
  if (kind === 'test') return nextDeliveryState('claimed', settlement.kind === 'unfinished' ? 'deliver' : 'giveUp');
  if (settlement.kind === 'unfinished') return nextDeliveryState('claimed', 'retry');
  if (settlement.next === 'dead') return nextDeliveryState('claimed', 'giveUp');
  const isParked = settlement.next === 'park' || settlement.next === 'invalid';
  return nextDeliveryState('claimed', isParked ? 'park' : 'retry');
}

/** What it says about the channel. An update moves nothing of it: what it completes has arrived. */
function answerOf(settlement: Settlement, kind: DeliveryKind): ChannelAnswer {
  if (kind === 'update') return 'harmless';
  if (settlement.kind === 'delivered' || settlement.kind === 'unfinished') return 'accepted';
  if (settlement.kind !== 'failed') return 'harmless';
  return settlement.next === 'park' || settlement.next === 'invalid' ? settlement.next : 'failed';
}

/** Values of the columns that it changes, the state last: one database reads columns that were set before in the same statement. */
function valuesAfter(
  settlement: Settlement,
  state: DeliveryState,
  now: Instant,
): readonly (readonly [column: string, value: unknown])[] {
  const isOver = state === 'sent' || state === 'dead' || state === 'cancelled';
  const values: [string, unknown][] = [
    ['claimed_by', null],
    ['claim_until', null],
    ['ended_at', isOver ? now : null],
    ['next_at', state === 'ready' ? nextAtOf(settlement, now) : null],
    ['state_reason', state === 'ready' ? reasonOf(settlement) : null],
  ];
  if (settlement.kind === 'delivered') {
    values.push(['first_sent_at', now], ['last_error', null], ['http_status', settlement.httpStatus ?? null]);
  }
  if ('progress' in settlement && settlement.progress !== undefined) {
    values.push(['progress', toJson(settlement.progress)]);
  }
  if (settlement.kind === 'unfinished') values.push(['maybe_sent', 1]);
  if (settlement.kind === 'failed') {
    const { error } = settlement;
    values.push(['last_error', toJson({ ...error, at: now })], ['http_status', error.httpStatus]);
    if (settlement.maybeSent) values.push(['maybe_sent', 1]);
    if (settlement.next === 'reduce') values.push(['reduced', 1]);
  }
  values.push(['state', state]);
  return values;
}

/** Nothing went out: the attempt that the claim has counted is given back. */
function spendsNothing(settlement: Settlement): boolean {
  return settlement.kind === 'putBack' || (settlement.kind === 'failed' && settlement.next === 'invalid');
}

function nextAtOf(settlement: Settlement, now: Instant): Instant {
  return 'nextAt' in settlement ? (settlement.nextAt ?? now) : now;
}

function reasonOf(settlement: Settlement): DeliveryStateReason | null {
  if (settlement.kind === 'putBack') return settlement.reason ?? null;
  if (settlement.kind === 'unfinished') return 'backoff';
  return settlement.kind === 'failed' && settlement.next === 'retry' ? 'backoff' : null;
}
