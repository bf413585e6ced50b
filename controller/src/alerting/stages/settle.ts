import { retryAt, type Instant } from '@cronjob-monitor/shared/domain';
import type { Settlement } from '@cronjob-monitor/shared/store';
import type { Outcome } from '../../channels/index.ts';

/** What is written of an attempt. `attempts`: this one included; `random` is in [0, 1). alerting.md section 6. */
export function toSettlement(
  outcome: Outcome,
  of: { readonly attempts: number; readonly now: Instant; readonly random: number },
): Settlement {
  if (outcome.kind === 'delivered') {
    const { httpStatus, progress } = outcome;
    if (!outcome.unfinished) return { kind: 'delivered', httpStatus, progress };
    return { kind: 'unfinished', nextAt: retryAt(of.now, of.attempts, undefined, of.random), progress };
  }
  const { next, category, message, httpStatus, retryAfterMs, maybeSent, progress } = outcome;
  return {
    kind: 'failed',
    next,
    nextAt: next === 'retry' ? retryAt(of.now, of.attempts, retryAfterMs, of.random) : undefined,
    error: { category, message, httpStatus: httpStatus ?? null },
    maybeSent,
    progress,
  };
}
