import type { Instant } from '../instant.ts';

const second = 1_000;
const minute = 60 * second;

/** How late the cluster's own Job creation runs: the 99th percentile of (creation - slot) of the last hour; 0 below 20 samples. */
export function startSkewP99(delaysMs: readonly number[]): number {
  if (delaysMs.length < 20) return 0;
  const sorted = [...delaysMs].sort((a, b) => a - b);
  return Math.max(0, sorted[Math.ceil(0.99 * sorted.length) - 1] ?? 0);
}

/** A run that started later than this after its slot is `late`, not `matched`. */
export function lateAfterMs(skewP99Ms: number): number {
  return Math.max(minute, 3 * skewP99Ms);
}

/**
 * How long a run may be overdue before the slot is judged. The half gap to the following slot limits the configured grace only,
 * never what the cluster really needs.
 */
export function toleranceMs(of: {
  readonly graceMs: number;
  readonly gapMs: number;
  readonly skewP99Ms: number;
}): number {
  const asked = Math.min(of.graceMs, of.gapMs / 2);
  return Math.min(15 * minute, Math.max(30 * second, 3 * of.skewP99Ms, asked));
}

/** The instant at which a slot without a run is judged: a starting deadline lets the controller start it later. */
export function verdictAt(slotAt: Instant, tolerance: number, deadlineS: number | undefined): Instant {
  const wait = deadlineS === undefined ? tolerance : Math.max(tolerance, Math.min(deadlineS * second, 10 * minute));
  return slotAt + wait;
}
