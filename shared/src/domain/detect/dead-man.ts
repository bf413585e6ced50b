import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

export interface DeadManRule {
  readonly enabled: boolean;
  /** Wins over `auto`. */
  readonly maxSinceSuccessMs: number | undefined;
  readonly auto: { readonly bufferMs: number; readonly missedScheduleThreshold: number } | undefined;
  readonly pauseMonitoring: boolean;
}

export interface DeadManFacts {
  readonly suspended: boolean;
  /** Newest success of any kind, inferred ones and `lastSuccessfulTime` included. */
  readonly lastSuccessAt: Instant | undefined;
  /** End of the last suspension. */
  readonly resumedAt: Instant | undefined;
  /** p95 duration of the last 20 successes; undefined below 5. */
  readonly p95DurationMs: number | undefined;
  /** The n-th expected run after an instant, in the CronJob's own zone; undefined when none comes. */
  readonly nthSlotAfter: (after: Instant, n: number) => Instant | undefined;
}

/**
 * Holds when no run has succeeded for too long: a fixed time, or the n-th expected run after the last success and a buffer. It needs
 * one earlier success, and counts from the resume of a paused CronJob when that is later. Running and failed Jobs move nothing.
 * `since` is the instant the limit was passed. Spec 2.1 and 3.
 */
export function deadManTriggered(rule: DeadManRule, facts: DeadManFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  if (facts.suspended && rule.pauseMonitoring) return quiet('paused');
  if (facts.lastSuccessAt === undefined) return quiet('neverSucceeded');

  const countsFrom = rule.pauseMonitoring ? Math.max(facts.lastSuccessAt, facts.resumedAt ?? 0) : facts.lastSuccessAt;
  const dueAt = deadManDueAt(rule, facts, countsFrom);
  if (dueAt === undefined) return quiet('neverDue');
  if (now < dueAt) return quiet('withinLimit', dueAt);
  return holds({
    since: dueAt,
    reason: 'noSuccessWithin',
    figures: { measured: (now - countsFrom) / 1000, limit: (dueAt - countsFrom) / 1000, unit: 'seconds' },
    detail: { lastSuccessAt: facts.lastSuccessAt, countsFromAt: countsFrom },
  });
}

function deadManDueAt(rule: DeadManRule, facts: DeadManFacts, countsFrom: Instant): Instant | undefined {
  if (rule.maxSinceSuccessMs !== undefined) return countsFrom + rule.maxSinceSuccessMs;
  if (!rule.auto) return undefined;
  const slotAt = facts.nthSlotAfter(countsFrom, rule.auto.missedScheduleThreshold);
  return slotAt === undefined ? undefined : slotAt + (facts.p95DurationMs ?? 0) + rule.auto.bufferMs;
}
