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

/** Of a run that is no longer kept a whole day leaves a window at once, and no instant tells when: within this time each CronJob is asked. */
const allWithinMs = 3_600_000;
/** So many shares a fleet has: a round asks those whose turn came since the last one, and so no round asks them all. */
const shares = 12;
const shareMs = allWithinMs / shares;

/**
 * Asks CronJobs for their rate and their durations: those with new runs or misses, those of which a run has left a window, those with an alert about
 * either or a broken promise, and of the others a share. The first round of a term asks all.
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
  /** The last turn that came; before the first round, and after one that failed, all are to come. */
  let lastTurn = -Infinity;

  const dueNow = async (now: Instant): Promise<{ due: number[]; left: number[] }> => {
    const [uids, missed] = [changed, missing];
    [changed, missing] = [new Set(), new Set()];
    const turn = Math.floor(now / shareMs);
    const came = turnsSince(lastTurn, turn);
    lastTurn = turn;
    const inTurn = came.length === 0 ? [] : await listCronJobsToJudge(store, { of: shares, remainders: came });
    forgetOthers(leavesAt, came, new Set(inTurn));
    const left = [...leavesAt].flatMap(([id, at]) => (at < now ? [id] : []));
    const open = await listCronJobsWithAlerts(store, ['slaBreached', 'durationRegression']);
    const broken = await listCronJobsWithBrokenTargets(store);
    const ids = uids.size === 0 ? new Map<string, number>() : await cronJobIdsOf(store, [...uids]);
    return { due: [...new Set([...inTurn, ...ids.values(), ...missed, ...left, ...open, ...broken])], left };
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
        const { due, left } = await dueNow(now);
        await evaluate(due, left);
        await noteLeaves(due, now);
      } catch (error) {
        lastTurn = -Infinity;
        throw error;
      }
    },
  };
}

/** The shares whose turn came after `last`, up to `turn`, each once. A clock that was set back brings none; they go on from there. */
function turnsSince(last: number, turn: number): number[] {
  const count = Math.min(shares, Math.max(0, turn - last));
  return Array.from({ length: count }, (_, back) => (turn - back) % shares);
}

/** What no monitor selects any more, and nothing is open about, is known of no longer than until the turn of its share. */
function forgetOthers(leavesAt: Map<number, Instant>, came: readonly number[], inTurn: ReadonlySet<number>): void {
  for (const id of leavesAt.keys()) if (came.includes(id % shares) && !inTurn.has(id)) leavesAt.delete(id);
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
