import type { Instant } from '@cronjob-monitor/shared/domain';
import {
  cronJobIdsOf,
  listCronJobsToJudge,
  listCronJobsWithAlerts,
  listCronJobsWithBrokenTargets,
  listOldestSince,
  type Store,
} from '@cronjob-monitor/shared/store';

/** So often all CronJobs are asked: of runs that are no longer kept a whole day leaves a window at once. */
const allEveryMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * Asks CronJobs for their rate and their durations: those with new runs, those of which a run has left a window, those with an alert about
 * either or a broken promise, each hour all of them.
 */
interface SlaRounds {
  /** A run of this CronJob was recorded. */
  readonly recorded: (cronJobUid: string) => void;
  /** A round that fails is made up for by one over all. `left`: those among them of which a run has left a window. */
  readonly run: (
    now: Instant,
    evaluate: (cronJobIds: readonly number[], left: readonly number[]) => Promise<unknown>,
  ) => Promise<void>;
}

/** `windowDays`: how long the windows of the monitors are. */
export function createSlaRounds(store: Store, windowDays: () => Iterable<number>): SlaRounds {
  let changed = new Set<string>();
  /** When the next run of a CronJob leaves a window, as its last round saw it. */
  const leavesAt = new Map<number, Instant>();
  let allAskedAt = -Infinity;

  const dueNow = async (now: Instant, left: readonly number[]): Promise<number[]> => {
    const uids = changed;
    changed = new Set();
    if (now - allAskedAt >= allEveryMs) {
      allAskedAt = now;
      leavesAt.clear();
      return listCronJobsToJudge(store);
    }
    const open = await listCronJobsWithAlerts(store, ['slaBreached', 'durationRegression']);
    const broken = await listCronJobsWithBrokenTargets(store);
    const ids = uids.size === 0 ? new Map<string, number>() : await cronJobIdsOf(store, [...uids]);
    return [...new Set([...ids.values(), ...left, ...open, ...broken])];
  };

  const noteLeaves = async (ids: readonly number[], now: Instant): Promise<void> => {
    for (const id of ids) leavesAt.delete(id);
    for (const days of new Set(windowDays()))
      for (const [id, oldestAt] of await listOldestSince(store, ids, now - days * dayMs))
        leavesAt.set(id, Math.min(leavesAt.get(id) ?? Infinity, oldestAt + days * dayMs));
  };

  return {
    recorded: (cronJobUid) => void changed.add(cronJobUid),
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
