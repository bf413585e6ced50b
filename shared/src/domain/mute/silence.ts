import type { Instant } from '../instant.ts';

/** What a silence mutes: all given criteria must hold; none given is the whole fleet only when `all` says so. */
export interface SilenceMatcher {
  readonly namespaces: readonly string[];
  readonly cronjobs: readonly string[];
  /** Whole names, each with its namespace. */
  readonly refs?: readonly { readonly namespace: string; readonly name: string }[] | undefined;
  readonly types: readonly string[];
  readonly severities: readonly string[];
  readonly monitor: { readonly namespace: string; readonly name: string } | null;
  readonly alertId: string | null;
  readonly all: boolean;
}

export interface Silence {
  readonly id: string;
  readonly matcher: SilenceMatcher;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  /** Set when it was ended before its time. */
  readonly endedAt: Instant | undefined;
}

/** What a silence is asked about. */
export interface MutableAlert {
  readonly id: string;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly type: string;
  readonly severity: string;
  readonly monitor: { readonly namespace: string; readonly name: string };
}

export function isInForce(silence: Silence, at: Instant): boolean {
  return silence.startsAt <= at && at < silence.endsAt && (silence.endedAt === undefined || at < silence.endedAt);
}

export function matches(matcher: SilenceMatcher, alert: MutableAlert): boolean {
  if (matcher.all) return true;
  const { refs = [] } = matcher;
  const criteria = [
    anyOf(matcher.namespaces, alert.namespace),
    anyOf(matcher.cronjobs, alert.cronJobName),
    anyOf(matcher.types, alert.type),
    anyOf(matcher.severities, alert.severity),
    refs.length === 0
      ? null
      : refs.some(({ namespace, name }) => namespace === alert.namespace && name === alert.cronJobName),
    matcher.monitor &&
      matcher.monitor.namespace === alert.monitor.namespace &&
      matcher.monitor.name === alert.monitor.name,
    matcher.alertId === null ? null : matcher.alertId === alert.id,
  ].filter((answer) => answer !== null);
  return criteria.length > 0 && criteria.every(Boolean);
}

/** The silence in force that mutes the alert longest; undefined when none does. */
export function silenceOf(alert: MutableAlert, silences: readonly Silence[], at: Instant): Silence | undefined {
  return silences
    .filter((silence) => isInForce(silence, at) && matches(silence.matcher, alert))
    .reduce<Silence | undefined>(
      (last, silence) => (last && last.endsAt >= silence.endsAt ? last : silence),
      undefined,
    );
}

function anyOf(wanted: readonly string[], value: string): boolean | null {
  return wanted.length === 0 ? null : wanted.includes(value);
}
