import type { AlertSubject, AlertType } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import type { Verdict } from './verdict.ts';

type Holding = Extract<Verdict, { readonly kind: 'holds' }>;

/**
 * A level that began and ended at instants that have passed: whether the service looked in between or not, it is an alert. `verdict` says
 * what a look just before its end would have found.
 */
export interface PassedLevel {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly verdict: Holding;
  /** When what the level is about began, such as the suspension. An alert since a later instant is about the same. */
  readonly beganAt: Instant;
  readonly endedAt: Instant;
  /** The run that ended it. */
  readonly by: { readonly jobName: string; readonly endedAt: Instant } | undefined;
  /**
   * What ended it where nothing in the cluster did: its CronJob was suspended and its monitor pauses then, or its monitor began to ask for
   * less, or for nothing of the kind, or let go of the group of Jobs it is about, or the last run left the window of a rate.
   */
  readonly cause?: 'paused' | 'loosened' | 'notConfigured' | 'forgotten' | 'noRuns' | undefined;
}

/** A span in which a CronJob was suspended; `toAt` undefined: it still is. */
export interface Suspension {
  readonly fromAt: Instant;
  readonly toAt: Instant | undefined;
}

/** An answer that is known to hold. */
export function firmly(verdict: Verdict): Holding {
  if (verdict.kind !== 'holds') throw new TypeError(`a level that has passed held, and its verdict is ${verdict.kind}`);
  return verdict;
}

/**
 * Each time that a success was not as it must be and a later one was. `successes`: in the order of their end. `isCut`: there are older ones, so
 * that what was so with the first of these began earlier.
 */
export function successesPassed<T extends { readonly jobName: string; readonly endedAt: Instant }>(
  subject: AlertSubject,
  successes: readonly T[],
  verdictOf: (run: T) => Verdict,
  isCut: boolean,
): PassedLevel[] {
  const passed: PassedLevel[] = [];
  let first: Holding | undefined;
  for (const run of successes) {
    const verdict = verdictOf(run);
    if (verdict.kind === 'holds') first ??= verdict;
    else if (first) {
      const held = first;
      first = undefined;
      if (isCut && held.since === successes[0]?.endedAt) continue;
      const beganAt = held.since - 1;
      passed.push({ type: 'slaBreached', subject, verdict: held, beganAt, endedAt: run.endedAt, by: run });
    }
  }
  return passed;
}

/** A span in which a condition held for one of several things; `toAt` Infinity: it still does. */
export interface HeldSpan<T> {
  readonly of: T;
  readonly fromAt: Instant;
  readonly toAt: Instant;
}
