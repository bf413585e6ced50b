import type { Suppression } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { windowAt, type MaintenanceWindow } from '../mute/maintenance.ts';
import { silenceOf, type MutableAlert, type Silence } from '../mute/silence.ts';

/** A person asked not to be told: by a window of the monitor or by a silence. */
export interface Mute {
  readonly by: Suppression;
  /** Name of the window, id of the silence. */
  readonly ref: string;
  /** When it is looked at again. */
  readonly untilAt: Instant;
}

/** What mutes the alert at `at`; of several the one that ends last. */
export function muteOf(
  alert: MutableAlert,
  windows: readonly MaintenanceWindow[],
  silences: readonly Silence[],
  at: Instant,
): Mute | undefined {
  const window = windowAt(
    windows.filter(({ suppressAlerts }) => suppressAlerts),
    at,
  );
  const silence = silenceOf(alert, silences, at);
  if (window && (!silence || window.toAt >= silence.endsAt)) {
    return { by: 'maintenance', ref: window.name, untilAt: window.toAt };
  }
  return silence && { by: 'silence', ref: silence.id, untilAt: silence.endsAt };
}

/** What muted the alert during the whole of a span that has passed; undefined: at some instant of it nothing did. */
export function muteThroughout(
  alert: MutableAlert,
  windows: readonly MaintenanceWindow[],
  silences: readonly Silence[],
  { fromAt, toAt }: { readonly fromAt: Instant; readonly toAt: Instant },
): Mute | undefined {
  let mute = muteOf(alert, windows, silences, fromAt);
  while (mute && mute.untilAt < toAt) mute = muteOf(alert, windows, silences, mute.untilAt);
  return mute;
}

/** What keeps back a message about an alert that stays active. */
export interface MessageHold {
  readonly reason: 'storm' | 'inhibited' | 'dependsOn' | Suppression | 'flapping' | 'duplicate';
  /** When it is looked at again; undefined: when its cause ends. */
  readonly untilAt: Instant | undefined;
  /** The alert or storm that holds it back, the name of the window, the id of the silence. */
  readonly ref: string | undefined;
}

export interface MessageHoldFacts {
  /** Found by the caller, which knows the other alerts and the storm. */
  readonly imposed: MessageHold | undefined;
  readonly mute: Mute | undefined;
  /** It may be told in spite of an earlier message: the severity rose or the error changed. */
  readonly passesDuplicates: boolean;
  readonly flappingUntil: Instant | undefined;
  readonly lastNotifiedAt: Instant | undefined;
  /** An earlier message about it is on its way. */
  readonly isUnderway: boolean;
  readonly windowMs: number;
}

/** The first hold that applies to a message at `now`; undefined: it may be told. */
export function messageHold(facts: MessageHoldFacts, now: Instant): MessageHold | undefined {
  const { imposed, mute, flappingUntil, lastNotifiedAt, windowMs } = facts;
  if (imposed) return imposed;
  if (mute) return { reason: mute.by, untilAt: mute.untilAt, ref: mute.ref };
  if (facts.passesDuplicates) return undefined;
  if (flappingUntil !== undefined && now < flappingUntil) {
    return { reason: 'flapping', untilAt: flappingUntil, ref: undefined };
  }
  if (lastNotifiedAt !== undefined && now < lastNotifiedAt + windowMs) {
    return { reason: 'duplicate', untilAt: lastNotifiedAt + windowMs, ref: undefined };
  }
  // It is not known yet when it arrives: the window begins then.
  if (facts.isUnderway && windowMs > 0) return { reason: 'duplicate', untilAt: undefined, ref: undefined };
  return undefined;
}
