import type { Told, ToldChannel } from '@cronjob-monitor/shared/contract';
import type { StoredAlert, ToldDelivery, ToldFacts } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';

type Verdict = Pick<Told, 'state' | 'reason' | 'until'>;

/** Was it told of an alert, and if not, why: the first that applies. */
export function presentTold(alert: StoredAlert, facts: ToldFacts | undefined): Told {
  const newest = newestOfChannels(facts?.deliveries ?? []);
  const verdict =
    notWanted(newest, facts) ??
    failed(newest) ??
    held(alert, newest, facts) ??
    waiting(alert, newest) ??
    ({ state: newest.length > 0 ? 'sent' : 'waiting', reason: null, until: null } satisfies Verdict);
  return { ...verdict, channels: newest.map(presentChannel) };
}

function newestOfChannels(deliveries: readonly ToldDelivery[]): readonly ToldDelivery[] {
  return [...new Map(deliveries.map((delivery) => [delivery.channel, delivery])).values()];
}

function notWanted(newest: readonly ToldDelivery[], facts: ToldFacts | undefined): Verdict | undefined {
  if (newest.length === 0) {
    const { decision } = facts ?? {};
    return decision?.action === 'notRouted' ? { state: 'none', reason: decision.reason, until: null } : undefined;
  }
  const isCancelled = newest.every(({ state }) => state === 'cancelled');
  return isCancelled ? { state: 'none', reason: 'clearedBeforeSent', until: null } : undefined;
}

function failed(newest: readonly ToldDelivery[]): Verdict | undefined {
  const dead = newest.find(({ state }) => state === 'dead');
  if (!dead) return undefined;
  const isExpired = dead.endedAt !== undefined && dead.endedAt >= dead.expiresAt;
  return { state: 'failed', reason: isExpired ? 'expired' : 'rejected', until: null };
}

function held(alert: StoredAlert, newest: readonly ToldDelivery[], facts: ToldFacts | undefined): Verdict | undefined {
  if (alert.state === 'suppressed') {
    return { state: 'held', reason: orNull(alert.suppressedBy), until: toWireInstantOrNull(alert.dueAt) };
  }
  if (newest.some(({ state }) => state === 'parked')) return { state: 'held', reason: 'parked', until: null };
  const { decision } = facts ?? {};
  if (newest.length > 0 || decision?.action !== 'held') return undefined;
  return { state: 'held', reason: decision.reason, until: toWireInstantOrNull(decision.untilAt) };
}

function waiting(alert: StoredAlert, newest: readonly ToldDelivery[]): Verdict | undefined {
  if (alert.state === 'pending') {
    return { state: 'waiting', reason: 'alertDelay', until: toWireInstantOrNull(alert.dueAt) };
  }
  const open = newest.find(({ state }) => state === 'ready' || state === 'claimed');
  if (!open) return undefined;
  return { state: 'waiting', reason: orNull(open.stateReason), until: toWireInstantOrNull(open.nextAttemptAt) };
}

function presentChannel(delivery: ToldDelivery): ToldChannel {
  const isOpen = delivery.state === 'ready' || delivery.state === 'claimed';
  return {
    channel: delivery.channel,
    deliveryId: delivery.id,
    kind: delivery.kind,
    state: delivery.state,
    attempts: delivery.attempts,
    at: toWireInstant(delivery.endedAt ?? delivery.createdAt),
    nextAttemptAt: isOpen ? toWireInstantOrNull(delivery.nextAttemptAt) : null,
    category: orNull(delivery.category),
    httpStatus: orNull(delivery.httpStatus),
  };
}
