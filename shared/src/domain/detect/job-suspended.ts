import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

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
