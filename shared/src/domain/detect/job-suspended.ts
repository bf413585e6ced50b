import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import type { PassedLevel, Suspension } from './passed-level.ts';

/** Holds when a CronJob has been suspended for longer than its monitor allows; counted from the suspension, across restarts of ours. */
export function jobSuspended(
  rule: { readonly alertIfSuspendedForMs: number | undefined },
  facts: { readonly suspendedSinceAt: Instant | undefined },
  now: Instant,
): Verdict {
  const { alertIfSuspendedForMs: limitMs } = rule;
  if (limitMs === undefined) return quiet('notConfigured');
  if (facts.suspendedSinceAt === undefined) return quiet('notSuspended');
  const dueAt = facts.suspendedSinceAt + limitMs;
  if (now < dueAt) return quiet('withinLimit', dueAt);
  return holds({
    since: dueAt,
    reason: 'suspendedTooLong',
    figures: { measured: (now - facts.suspendedSinceAt) / 1000, limit: limitMs / 1000, unit: 'seconds' },
    detail: { suspendedSinceAt: facts.suspendedSinceAt },
  });
}

/** Each suspension that lasted longer than the monitor allows and is over. */
export function suspensionsPassed(
  rule: { readonly alertIfSuspendedForMs: number | undefined },
  suspensions: readonly Suspension[],
): PassedLevel[] {
  return suspensions.flatMap(({ fromAt, toAt }) => {
    if (toAt === undefined) return [];
    // Just before its end: a suspension that ends when the limit is reached was in time.
    const verdict = jobSuspended(rule, { suspendedSinceAt: fromAt }, toAt - 1);
    if (verdict.kind !== 'holds') return [];
    return [{ type: 'jobSuspended', subject: undefined, verdict, beganAt: fromAt, endedAt: toAt, by: undefined }];
  });
}
