import { wordOfReason, type Told, type ToldChannel, type ToldWord } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { StoredAlert, ToldDelivery, ToldFacts } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';

interface Verdict extends Pick<Told, 'state' | 'reason'> {
  readonly until: Instant | undefined;
}

/** Was it told of an alert, and if not, why: the first that applies. A time that has passed is no time until which something waits. */
export function presentTold(alert: StoredAlert, facts: ToldFacts | undefined, now: Instant): Told {
  const newest = newestOfChannels(facts?.deliveries ?? []);
  const verdict =
    notWanted(alert, newest, facts) ??
    failed(newest) ??
    held(alert, newest, facts) ??
    waiting(alert, newest) ??
    ({ state: newest.length > 0 ? 'sent' : 'waiting', reason: insteadOf(facts), until: undefined } satisfies Verdict);
  const until = verdict.until === undefined || verdict.until <= now ? null : toWireInstant(verdict.until);
  const channels = newest.map((delivery) => presentChannel(alert, delivery));
  return { state: verdict.state, reason: verdict.reason, word: wordOf(verdict.reason, channels), until, channels };
}

/** Of its reason; without one, of what became of its message wherever it went. */
function wordOf(reason: Told['reason'], channels: readonly ToldChannel[]): ToldWord | null {
  if (reason !== null && reason !== 'instead') return wordOfReason[reason] ?? null;
  const words = new Set(channels.map(({ word }) => word));
  return words.size === 1 ? (channels[0]?.word ?? null) : null;
}

const insteadOf = (facts: ToldFacts | undefined) => (facts?.decision?.reason === 'instead' ? 'instead' : null);

function newestOfChannels(deliveries: readonly ToldDelivery[]): readonly ToldDelivery[] {
  return [...new Map(deliveries.map((delivery) => [delivery.channel, delivery])).values()];
}

function notWanted(
  alert: StoredAlert,
  newest: readonly ToldDelivery[],
  facts: ToldFacts | undefined,
): Verdict | undefined {
  if (newest.length === 0) {
    const { decision } = facts ?? {};
    return decision?.action === 'notRouted' ? { state: 'none', reason: decision.reason, until: undefined } : undefined;
  }
  const isCancelled = newest.every(({ state }) => state === 'cancelled');
  if (!isCancelled) return undefined;
  // Before it left a parent was told, or a person silenced it: its message is owed, and made anew.
  const left = heldBy(alert, facts);
  if (left && isOwedAfter(left.reason)) return left;
  if (alert.state === 'active' && newest.some(({ isTurn }) => isTurn)) {
    // Its turn was left out because a person had taken note of it, or because the monitor named the channel no more.
    return { state: 'none', reason: alert.acknowledgement ? 'acknowledged' : 'noChannel', until: undefined };
  }
  return { state: 'none', reason: whyTakenBack(alert, facts), until: undefined };
}

const isOwedAfter = (reason: Told['reason']): boolean =>
  reason === 'dependsOn' || reason === 'silence' || reason === 'maintenance';

/**
 * What has not cleared was taken back with its channel, or because its monitor told no channel then. What has cleared was taken back with its
 * channel where that went while it waited, be it the news of its end alone.
 */
function whyTakenBack({ endedAt }: StoredAlert, facts: ToldFacts | undefined): Told['reason'] {
  const { decision } = facts ?? {};
  if (decision?.reason === 'channelDeleted') return decision.reason;
  return endedAt === undefined && decision?.action === 'notRouted' ? decision.reason : 'clearedBeforeSent';
}

function failed(newest: readonly ToldDelivery[]): Verdict | undefined {
  const dead = newest.find(({ state }) => state === 'dead');
  if (!dead) return undefined;
  const isExpired = dead.endedAt !== undefined && dead.endedAt >= dead.expiresAt;
  return { state: 'failed', reason: isExpired ? 'expired' : 'rejected', until: undefined };
}

function held(alert: StoredAlert, newest: readonly ToldDelivery[], facts: ToldFacts | undefined): Verdict | undefined {
  if (alert.state === 'suppressed') {
    return { state: 'held', reason: orNull(alert.suppressedBy), until: alert.dueAt };
  }
  if (newest.some(({ state }) => state === 'parked')) return { state: 'held', reason: 'parked', until: undefined };
  // It came back: all that was heard of it last is that it is over. Of what is over that is all there is to hear.
  const isHeard = newest.some(({ kind }) => kind !== 'closing' || alert.endedAt !== undefined);
  return isHeard ? undefined : heldBy(alert, facts);
}

function heldBy({ endedAt }: StoredAlert, facts: ToldFacts | undefined): Verdict | undefined {
  const { decision } = facts ?? {};
  if (decision?.action !== 'held') return undefined;
  return { state: 'held', reason: decision.reason, until: endedAt === undefined ? decision.untilAt : undefined };
}

function waiting(alert: StoredAlert, newest: readonly ToldDelivery[]): Verdict | undefined {
  if (alert.state === 'pending') {
    return { state: 'waiting', reason: 'alertDelay', until: alert.dueAt };
  }
  const isTold = newest.some(({ state }) => state === 'sent' || state === 'digested');
  const open = newest.find(({ state, stateReason }) => {
    // Those whose turn comes later wait for nothing that is wrong.
    return state === 'claimed' || (state === 'ready' && !(isTold && stateReason === 'after'));
  });
  if (!open) return undefined;
  const reason = open.state === 'ready' && open.restsUntil !== undefined ? 'circuit' : orNull(open.stateReason);
  return { state: 'waiting', reason, until: nextTryOf(open) };
}

/** When it goes at the earliest: a channel that rests takes it no sooner than it is probed. */
function nextTryOf({ state, nextAttemptAt, restsUntil }: ToldDelivery): Instant | undefined {
  if (state !== 'ready' || restsUntil === undefined) return nextAttemptAt;
  return Math.max(nextAttemptAt ?? restsUntil, restsUntil);
}

function presentChannel({ state, mutedThere }: StoredAlert, delivery: ToldDelivery): ToldChannel {
  const isOpen = delivery.state === 'ready' || delivery.state === 'claimed';
  const there = state === 'active' ? orNull(mutedThere[delivery.channel]?.says) : null;
  return {
    channel: delivery.channel,
    deliveryId: delivery.id,
    kind: delivery.kind,
    state: delivery.state,
    attempts: delivery.attempts,
    at: toWireInstant(delivery.endedAt ?? delivery.createdAt),
    nextAttemptAt: isOpen ? toWireInstantOrNull(nextTryOf(delivery)) : null,
    category: orNull(delivery.category),
    httpStatus: orNull(delivery.httpStatus),
    mutedThere: there,
    word: orNull(wordOfReason[there === null ? delivery.state : 'mutedThere']),
  };
}
