import type { Instant } from '@cronjob-monitor/shared/domain';
import {
  cronJobIdsOf,
  listCronJobsToJudge,
  listCronJobsWithAlerts,
  listCronJobsWithBrokenTargets,
  type Store,
} from '@cronjob-monitor/shared/store';

/** Runs that leave the window change a rate as well, slowly: so often all CronJobs are asked. */
const allEveryMs = 3_600_000;

/** Asks CronJobs for their rate and their durations: those with new runs, those with an alert about either or a broken
 * promise, each hour all of them. */
interface SlaRounds {
  /** A run of this CronJob was recorded. */
  readonly recorded: (cronJobUid: string) => void;
  /** A round that fails is made up for by one over all. */
  readonly run: (now: Instant, evaluate: (cronJobIds: readonly number[]) => Promise<unknown>) => Promise<void>;
}

export function createSlaRounds(store: Store): SlaRounds {
  let changed = new Set<string>();
  let allAskedAt = -Infinity;

  const dueNow = async (now: Instant): Promise<number[]> => {
    const uids = changed;
    changed = new Set();
    if (now - allAskedAt >= allEveryMs) {
      allAskedAt = now;
      return listCronJobsToJudge(store);
    }
    const open = await listCronJobsWithAlerts(store, ['slaBreached', 'durationRegression']);
    const broken = await listCronJobsWithBrokenTargets(store);
    const ids = uids.size === 0 ? new Map<string, number>() : await cronJobIdsOf(store, [...uids]);
    return [...new Set([...ids.values(), ...open, ...broken])];
  };

  return {
    recorded: (cronJobUid) => void changed.add(cronJobUid),
    async run(now, evaluate) {
      try {
        await evaluate(await dueNow(now));
      } catch (error) {
        allAskedAt = -Infinity;
        throw error;
      }
    },
  };
}
