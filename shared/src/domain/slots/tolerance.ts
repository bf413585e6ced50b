import type { Instant } from '../instant.ts';
import { type ScheduledRun, unfinishedAt } from './classify.ts';
import type { SpecEpoch } from './epoch.ts';
import { parse } from '../schedule/index.ts';

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

/** No tolerance is longer: who came later was caught up with and says nothing of how busy the cluster is. */
const longestDelayMs = 15 * 60_000;

/**
 * How long after its slot a run was started, milliseconds, if that tells how late the cluster usually is. Undefined for a run that waited
 * for another (Forbid) or was caught up with: its slot was suspended, or older than the schedule that asks for it, or long ago.
 */
export function startDelayOf(
  run: ScheduledRun,
  around: { readonly epochs: readonly SpecEpoch[]; readonly runs: readonly ScheduledRun[] },
): number | undefined {
  const delayMs = run.createdAt - run.slotAt;
  const epoch = epochAt(around.epochs, run.slotAt);
  if (delayMs > longestDelayMs || !epoch || epoch.suspended || !epoch.certain) return undefined;
  if (epoch.policy === 'Forbid' && unfinishedAt(run.slotAt, around.runs)) return undefined;
  return Math.max(0, delayMs);
}

/** The epoch that an instant lies in: after its beginning, up to its end. */
export function epochAt(epochs: readonly SpecEpoch[], at: Instant): SpecEpoch | undefined {
  return epochs.findLast((epoch) => epoch.fromAt < at && at <= (epoch.toAt ?? Infinity));
}

/**
 * From the slot that a run answers, or before which it was made, to the one that follows; milliseconds. Undefined when there is no such pair:
 * the schedule cannot be read, or does not come again.
 */
export function slotGapMs(
  text: string,
  timeZone: string,
  run: { readonly slotAt: Instant | undefined; readonly createdAt: Instant },
): number | undefined {
  try {
    const schedule = parse(text);
    const at = run.slotAt ?? run.createdAt;
    const nextAt = schedule.next(at, timeZone);
    // Intervals have one length, wherever they are counted from.
    const beforeAt = run.slotAt ?? (schedule.kind === 'every' ? at : schedule.previous(at + 1_000, timeZone));
    return nextAt === null || beforeAt === null ? undefined : nextAt - beforeAt;
  } catch {
    return undefined; // told as a finding of its own
  }
}
