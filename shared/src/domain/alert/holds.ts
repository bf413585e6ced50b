import type { Suppression } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { longestMuteMs } from '../settings/words.ts';
import { windowAt, type MaintenanceWindow } from '../mute/maintenance.ts';
import { silenceOf, type MutableAlert, type Silence } from '../mute/silence.ts';

/** A person asked not to be told: by a window of the monitor or by a silence. */
export interface Mute {
  readonly by: Suppression;
  /** Name of the window, id of the silence; `annotation`: the owner of the CronJob wrote one. */
  readonly ref: string;
  /** When it is looked at again. */
  readonly untilAt: Instant;
}

/** Until when the owner of a CronJob said that it is muted, until said otherwise. */
export interface EarlierMute {
  readonly saidUntilAt: Instant;
  readonly mutedUntilAt: Instant | undefined;
}

/** The windows that a monitor had until it was changed. */
export interface EarlierWindows {
  readonly untilAt: Instant;
  readonly windows: readonly MaintenanceWindow[];
}

/** What of the rules of a monitor mutes. */
interface MuteRules {
  readonly windows: readonly MaintenanceWindow[];
  /** Oldest first. Absent: the same. */
  readonly earlierWindows?: readonly EarlierWindows[] | undefined;
  /** Until then the owner of the CronJob mutes; no more than 30 days ahead. Absent: the owner does not. */
  readonly mutedUntilAt?: Instant | undefined;
  /** Oldest first. */
  readonly earlierMutes?: readonly EarlierMute[] | undefined;
}

/** What mutes the alert at `at`; of several the one that ends last. */
export function muteOf(
  alert: MutableAlert,
  rules: MuteRules,
  silences: readonly Silence[],
  at: Instant,
): Mute | undefined {
  const mutes = [windowMute(rules, at), silenceMute(alert, silences, at), ownMute(rules, at)];
  return mutes.reduce((last, mute) => (mute && (!last || mute.untilAt > last.untilAt) ? mute : last), undefined);
}

function windowMute({ windows, earlierWindows = [] }: MuteRules, at: Instant): Mute | undefined {
  const earlier = earlierWindows.find(({ untilAt }) => at < untilAt);
  const window = windowAt(
    (earlier?.windows ?? windows).filter(({ suppressAlerts }) => suppressAlerts),
    at,
  );
  const untilAt = Math.min(window?.toAt ?? Infinity, earlier?.untilAt ?? Infinity);
  return window && { by: 'maintenance', ref: window.name, untilAt };
}

function silenceMute(alert: MutableAlert, silences: readonly Silence[], at: Instant): Mute | undefined {
  const silence = silenceOf(alert, silences, at);
  return silence && { by: 'silence', ref: silence.id, untilAt: Math.min(silence.endsAt, silence.endedAt ?? Infinity) };
}

/** In place of the id of a silence: the annotation of the CronJob or its Namespace. */
export const muteByAnnotation = 'annotation';

function ownMute({ mutedUntilAt, earlierMutes = [] }: MuteRules, at: Instant): Mute | undefined {
  const earlier = earlierMutes.find(({ saidUntilAt }) => at < saidUntilAt);
  const untilAt = earlier ? earlier.mutedUntilAt : mutedUntilAt;
  if (untilAt === undefined || untilAt <= at || untilAt - at > longestMuteMs) return undefined;
  return { by: 'silence', ref: muteByAnnotation, untilAt: Math.min(untilAt, earlier?.saidUntilAt ?? untilAt) };
}

/** What muted the alert during the whole of a span that has passed; undefined: at some instant of it nothing did. */
export function muteThroughout(
  alert: MutableAlert,
  rules: MuteRules,
  silences: readonly Silence[],
  { fromAt, toAt }: { readonly fromAt: Instant; readonly toAt: Instant },
): Mute | undefined {
  let mute = muteOf(alert, rules, silences, fromAt);
  while (mute && mute.untilAt < toAt) mute = muteOf(alert, rules, silences, mute.untilAt);
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
