import type { AlertType, Severity, Silence, SilenceState } from '@cronjob-monitor/shared/contract';
import { isInForce, matches, type Instant, type MutableAlert } from '@cronjob-monitor/shared/domain';
import type { StoredSilence } from '@cronjob-monitor/shared/store';
import { toWireInstant } from '../../wire-values.ts';

export function stateOf(silence: StoredSilence, now: Instant): SilenceState {
  if (endOf(silence) <= now) return 'expired';
  return silence.startsAt <= now ? 'active' : 'scheduled';
}

/** When it is over, or was ended. */
export function endOf({ endsAt, endedAt }: StoredSilence): Instant {
  return Math.min(endsAt, endedAt ?? endsAt);
}

/** What silences are told from. */
export interface SilenceFacts {
  readonly now: Instant;
  /** Every live alert that the caller may read. */
  readonly alerts: readonly MutableAlert[];
  /** Ids of the readable alerts that a silence has held so far. */
  readonly held: (silenceId: string) => readonly string[];
}

export function presentSilence(silence: StoredSilence, { now, alerts, held }: SilenceFacts): Silence {
  const mutedNow = isInForce(silence, now) ? matchedBy(silence, alerts) : [];
  const ever = new Set([...held(silence.id), ...mutedNow]);
  return { ...presentBase(silence, now), mutedNow: mutedNow.length, mutedTotal: ever.size };
}

/** A silence that is only asked about: what it would hold if it were in force now. */
export function presentDraft(silence: StoredSilence, alerts: readonly MutableAlert[], now: Instant): Silence {
  const muted = matchedBy(silence, alerts).length;
  return { ...presentBase(silence, now), id: null, mutedNow: muted, mutedTotal: muted };
}

function matchedBy({ matcher }: StoredSilence, alerts: readonly MutableAlert[]): readonly string[] {
  return alerts.filter((alert) => matches(matcher, alert)).map(({ id }) => id);
}

function presentBase(silence: StoredSilence, now: Instant): Omit<Silence, 'mutedNow' | 'mutedTotal'> {
  const { namespaces, cronjobs, types, severities, monitor, alertId, all } = silence.matcher;
  return {
    id: silence.id,
    state: stateOf(silence, now),
    matcher: {
      namespaces,
      cronjobs,
      // Only these words are let in.
      types: types as readonly AlertType[],
      severities: severities as readonly Severity[],
      monitor,
      alertId,
      all,
    },
    startsAt: toWireInstant(silence.startsAt),
    endsAt: toWireInstant(endOf(silence)),
    untilResolved: silence.untilResolved,
    comment: silence.comment,
    createdBy: silence.createdBy,
    createdAt: toWireInstant(silence.createdAt),
    updatedAt: toWireInstant(silence.updatedAt),
  };
}
