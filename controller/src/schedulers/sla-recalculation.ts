import { type Instant, dayMs } from '@cronjob-monitor/shared/domain';
import {
  cronJobIdsOf,
  listCronJobsToJudge,
  listCronJobsWithAlerts,
  listCronJobsWithBrokenTargets,
  listOldestSince,
  type Store,
  sealRollups,
  type SealedRollups,
} from '@cronjob-monitor/shared/store';
import type { Logger } from '@cronjob-monitor/shared/process';

/** So often all CronJobs are asked: of runs that are no longer kept a whole day leaves a window at once. */
const allEveryMs = 3_600_000;

/**
 * Asks CronJobs for their rate and their durations: those with new runs or misses, those of which a run has left a window, those with an alert about
 * either or a broken promise, each hour all of them.
 */
interface SlaRounds {
  /** A run of this CronJob was recorded. */
  readonly recorded: (cronJobUid: string) => void;
  /** A slot of these CronJobs was missed. */
  readonly missed: (cronJobIds: Iterable<number>) => void;
  /** A round that fails is made up for by one over all. `left`: those among them of which a run has left a window. */
  readonly run: (
    now: Instant,
    evaluate: (cronJobIds: readonly number[], left: readonly number[]) => Promise<unknown>,
  ) => Promise<void>;
}

/** `windowDays`: how long the windows of the monitors are. */
export function createSlaRounds(store: Store, windowDays: () => Iterable<number>): SlaRounds {
  let changed = new Set<string>();
  let missing = new Set<number>();
  /** When the next run of a CronJob leaves a window, as its last round saw it. */
  const leavesAt = new Map<number, Instant>();
  let allAskedAt = -Infinity;

  const dueNow = async (now: Instant, left: readonly number[]): Promise<number[]> => {
    const [uids, missed] = [changed, missing];
    [changed, missing] = [new Set(), new Set()];
    if (now - allAskedAt >= allEveryMs) {
      allAskedAt = now;
      leavesAt.clear();
      return listCronJobsToJudge(store);
    }
    const open = await listCronJobsWithAlerts(store, ['slaBreached', 'durationRegression']);
    const broken = await listCronJobsWithBrokenTargets(store);
    const ids = uids.size === 0 ? new Map<string, number>() : await cronJobIdsOf(store, [...uids]);
    return [...new Set([...ids.values(), ...missed, ...left, ...open, ...broken])];
  };

  const noteLeaves = async (ids: readonly number[], now: Instant): Promise<void> => {
    for (const id of ids) leavesAt.delete(id);
    for (const days of new Set(windowDays()))
      for (const [id, oldestAt] of await listOldestSince(store, ids, now - days * dayMs))
        leavesAt.set(id, Math.min(leavesAt.get(id) ?? Infinity, oldestAt + days * dayMs));
  };

  return {
    recorded: (cronJobUid) => void changed.add(cronJobUid),
    missed: (cronJobIds) => {
      for (const id of cronJobIds) missing.add(id);
    },
    async run(now, evaluate) {
      try {
        const left = [...leavesAt].flatMap(([id, at]) => (at < now ? [id] : []));
        const due = await dueNow(now, left);
        await evaluate(due, left);
        await noteLeaves(due, now);
      } catch (error) {
        allAskedAt = -Infinity;
        throw error;
      }
    },
  };
}

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
