import type { Instant } from '../instant.ts';
import { unfinishedAt } from './classify.ts';
import type { SpecEpoch } from './epoch.ts';
import type { ScheduledRun } from './run.ts';

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
