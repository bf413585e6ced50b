import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  toMessagePods,
  withoutAbsent,
  type AlertEvidenceFacts,
  type Attempt,
  type AwaitedEvidence,
  type FailurePlace,
} from '@cronjob-monitor/shared/domain';
import { podStatusOf } from './complete.ts';

/** What memory tells at once of a run about which more is still being read. */
export interface KnownOfRun {
  /** `evidence.message-wait`. */
  readonly messageWaitMs: number;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  readonly place: FailurePlace | undefined;
  /** By codes and reasons alone, with the patterns of this monitor. */
  readonly fixOf: (monitor: Ref) => string | undefined;
}

/** Of it what a monitor wants told: for the alert, and for its first message. */
export interface ToldAtOnce {
  readonly facts: AlertEvidenceFacts;
  readonly awaited: AwaitedEvidence;
}

/** `include` undefined: everything. */
export function toldAtOnce(
  known: KnownOfRun,
  monitor: Ref,
  include: { readonly podStatus: boolean; readonly suggestedFixes: boolean } | undefined,
): ToldAtOnce {
  const attempts = include?.podStatus === false ? [] : known.attempts;
  return {
    facts: withoutAbsent({
      podStatus: podStatusOf(attempts),
      suggestedFix: include?.suggestedFixes === false ? undefined : known.fixOf(monitor),
      place: known.place,
    }),
    awaited: { messageWaitMs: known.messageWaitMs, pods: attempts.length === 0 ? null : toMessagePods(attempts) },
  };
}
