import {
  severities,
  type FailureCause,
  type AlertType,
  type ChannelType,
  type MessageSeverity,
  type Severity,
} from '../../contract/vocabulary.ts';
import type { Instant } from '../instant.ts';
import type { DigestCause, DigestedAlert, DigestMessage } from './message.ts';
import { minuteMs } from '../duration.ts';
import { refText } from '../../contract/wording.ts';

const mostListed = 500;
/** So far back the entries of a storm are counted, and so long after the last one it is over. */
export const stormWindowMs = 5 * minuteMs;
/** What one fault brings about comes within this time. */
const scopeWaitMs = 30_000;
/** A digest that goes on says no more often what has joined it. */
const updateEveryMs = 15 * minuteMs;

/** A digest that is not over. */
export interface OpenDigest {
  readonly id: string;
  readonly cause: DigestCause;
  readonly openedAt: Instant;
  /** When something entered it last. */
  readonly lastEntryAt: Instant;
  /** When it was told last; undefined: it was not yet. */
  readonly toldAt: Instant | undefined;
}

/** What may be told together, with what decides whether it is. */
export type DigestEntry =
  | {
      readonly cause: 'storm';
      /** CronJobs that entered within the window. */
      readonly entered: number;
      /** CronJobs that are watched. */
      readonly fleet: number;
      /** `rate-limits.storm-threshold`; 0: no storms. */
      readonly threshold: number;
      /** The CronJob controller of the cluster gives no sign of life. */
      readonly isControllerStale: boolean;
    }
  | {
      readonly cause: 'rateLimit';
      readonly channel: { readonly type: ChannelType; readonly burst: number };
      /** Messages below critical that have waited for over a minute. */
      readonly waiting: number;
    }
  | {
      readonly cause: 'scope';
      /** What its route gathers by; undefined: it asks for no such thing, or the fault is of the CronJob alone. */
      readonly foldBy: { readonly cause: FailureCause; readonly scope: string } | undefined;
      readonly channel: { readonly type: ChannelType; readonly isAlertmanager: boolean };
    }
  /** Alerts that the first pass over an empty database finds. */
  | { readonly cause: 'firstPass'; readonly found: number };

/**
 * What enters joins the digest there is, opens one, or is told alone. An open digest is told again 15 min after the last time, if something
 * has joined it; at its end it names what still holds, and what recovered before any message told of it.
 *
 * | cause | one for | opens when | is told first | is over |
 * |---|---|---|---|---|
 * | storm | the fleet | 20 CronJobs (the threshold) and a fifth of the fleet within 5 min, or a stale controller | after the pass | 5 min without an entry |
 * | scope | cause, scope and channel | an alert takes a route with `fold`; never on paging or an Alertmanager | after 30 s | none of its alerts is open |
 * | rateLimit | a channel | more messages below critical wait for over 60 s than it takes at once; never on paging | at once | when it is told |
 * | firstPass | all channels | the first pass over an empty database finds two alerts or more | after the pass | when it is told |
 */
export function gather(entry: DigestEntry, open: OpenDigest | undefined): 'join' | 'open' | 'alone' {
  // Which channel and fault it is about decides in each case; the crowd of a storm does once.
  if (open !== undefined && (entry.cause !== 'scope' || opens(entry))) return 'join';
  return opens(entry) ? 'open' : 'alone';
}

function opens(entry: DigestEntry): boolean {
  if (entry.cause === 'firstPass') return entry.found > 1;
  // On paging each event needs a resolve of its own.
  if (entry.cause === 'rateLimit') return entry.channel.type !== 'paging' && entry.waiting > entry.channel.burst;
  if (entry.cause === 'scope')
    return entry.foldBy !== undefined && entry.channel.type !== 'paging' && !entry.channel.isAlertmanager;
  const { entered, fleet, threshold, isControllerStale } = entry;
  if (threshold === 0 || entered === 0) return false;
  return isControllerStale || (entered >= threshold && entered * 5 >= fleet);
}

export function isDigestOver({ lastEntryAt }: OpenDigest, now: Instant): boolean {
  return now >= lastEntryAt + stormWindowMs;
}

/** When it is told, if something that it has not told joins it now, or has joined it. */
export function digestDueAt({ cause, openedAt, toldAt }: OpenDigest, now: Instant): Instant {
  const waitMs = cause === 'scope' ? scopeWaitMs : 0;
  return toldAt === undefined ? openedAt + waitMs : Math.max(now + waitMs, toldAt + updateEveryMs);
}

/** A delivery that waits for its channel's rate limit. */
export interface WaitingDelivery {
  readonly id: string;
  readonly severity: MessageSeverity;
  readonly createdAt: Instant;
}

/** Whether a message has waited so long for its channel's rate limit that it may be told with others. Critical ones never wait for them. */
export function isLate({ severity, createdAt }: Omit<WaitingDelivery, 'id'>, now: Instant): boolean {
  return severity !== 'critical' && now - createdAt > minuteMs;
}

/** The deliveries that one digest replaces. Empty: each goes out by itself. */
export function foldable<T extends WaitingDelivery>(
  all: readonly T[],
  channel: { readonly type: ChannelType; readonly burst: number },
  now: Instant,
): readonly T[] {
  const late = all.filter((delivery) => isLate(delivery, now));
  return gather({ cause: 'rateLimit', channel, waiting: late.length }, undefined) === 'open' ? late : [];
}

/** What a digest says of these alerts: counts of all by type and severity, and the first 500 by name. */
export function digestBody(
  alerts: readonly DigestedAlert[],
): Pick<DigestMessage['digest'], 'total' | 'recovered' | 'counts' | 'alerts'> {
  const counts = new Map<string, { type: AlertType; severity: Severity; count: number }>();
  for (const { type, severity } of alerts) {
    const key = `${severities.indexOf(severity)} ${type}`;
    const count = (counts.get(key)?.count ?? 0) + 1;
    counts.set(key, { type, severity, count });
  }
  return {
    total: alerts.length,
    recovered: alerts.filter(({ endedAt }) => endedAt !== null).length,
    counts: [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count),
    alerts: alerts.toSorted(byName).slice(0, mostListed),
  };
}

function byName(a: DigestedAlert, b: DigestedAlert): number {
  const [left, right] = [`${refText(a)} ${a.id}`, `${refText(b)} ${b.id}`];
  return left < right ? -1 : 1;
}
