import type { Instant } from '@cronjob-monitor/shared/domain';
import type { Logger } from '@cronjob-monitor/shared/process';
import { sealRollups, type SealedRollups, type Store } from '@cronjob-monitor/shared/store';

/** A round takes so long at most: after midnight, when a fleet's days are over at once, several rounds share the work. */
const budgetMs = 5_000;

/** Part of each `sla-recalculation`: the days that are over get their sketch, those that changed are computed again. */
export async function sealDays(
  deps: {
    readonly store: Store;
    readonly epoch: number;
    readonly logger: Logger;
    /** Daily figures were not what their rows say. */
    readonly onMismatch?: ((days: number) => void) | undefined;
  },
  now: Instant,
): Promise<SealedRollups> {
  const sealed = await sealRollups(deps.store, deps.epoch, now, { budgetMs });
  if (sealed.different.length > 0) {
    deps.onMismatch?.(sealed.different.length);
    // Figures move in the transaction of their row: a difference is a mistake of ours, or of a program that wrote beside us.
    deps.logger.error('daily figures differed from their rows and are computed again', {
      days: sealed.different.length,
      first: sealed.different[0],
    });
  }
  return sealed;
}
