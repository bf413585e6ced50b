import {
  severities,
  type AlertType,
  type ChannelType,
  type MessageSeverity,
  type Severity,
} from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import type { DigestedAlert, DigestMessage } from './message.ts';

const waitedMs = 60_000;
const mostListed = 500;

/** A delivery that waits for its channel's rate limit. */
export interface WaitingDelivery {
  readonly id: string;
  readonly severity: MessageSeverity;
  readonly createdAt: Instant;
}

/**
 * The deliveries that one digest replaces: all below critical that have waited over a minute, when they are more than the channel
 * takes at once. Empty: each goes out by itself. Never on paging: there each event needs a resolve of its own.
 */
export function foldable<T extends WaitingDelivery>(
  waiting: readonly T[],
  channel: { readonly type: ChannelType; readonly burst: number },
  now: Instant,
): readonly T[] {
  if (channel.type === 'paging') return [];
  const late = waiting.filter(({ severity, createdAt }) => severity !== 'critical' && now - createdAt > waitedMs);
  return late.length > channel.burst ? late : [];
}

/** What a digest says of these alerts: counts of all by type and severity, and the first 500 by name. */
export function digestBody(
  alerts: readonly DigestedAlert[],
): Pick<DigestMessage['digest'], 'total' | 'counts' | 'alerts'> {
  const counts = new Map<string, { type: AlertType; severity: Severity; count: number }>();
  for (const { type, severity } of alerts) {
    const key = `${severities.indexOf(severity)} ${type}`;
    const count = (counts.get(key)?.count ?? 0) + 1;
    counts.set(key, { type, severity, count });
  }
  return {
    total: alerts.length,
    counts: [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count),
    alerts: alerts.toSorted(byName).slice(0, mostListed),
  };
}

function byName(a: DigestedAlert, b: DigestedAlert): number {
  const [left, right] = [`${a.namespace}/${a.name} ${a.id}`, `${b.namespace}/${b.name} ${b.id}`];
  return left < right ? -1 : 1;
}
