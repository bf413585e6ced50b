import type { DeliveryKind, DeliveryState, DeliveryStateReason } from '../../contract/index.ts';
import { afterRefusedUpdate, nextDeliveryState, type ChannelAnswer, type Instant } from '../../domain/index.ts';
import { toJson } from '../column.ts';
import type { StoredDeliveryError } from './delivery-record.ts';

/** What became of a claimed message. */
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
export function stateAfter(settlement: Settlement, kind: DeliveryKind, attempts: number): DeliveryState {
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
export function answerOf(settlement: Settlement, kind: DeliveryKind): ChannelAnswer {
  if (kind === 'update') return 'harmless';
  if (settlement.kind === 'delivered' || settlement.kind === 'unfinished') return 'accepted';
  if (settlement.kind !== 'failed') return 'harmless';
  return settlement.next === 'park' || settlement.next === 'invalid' ? settlement.next : 'failed';
}

/** Values of the columns that it changes, the state last: one database reads columns that were set before in the same statement. */
export function valuesAfter(
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
export function spendsNothing(settlement: Settlement): boolean {
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
