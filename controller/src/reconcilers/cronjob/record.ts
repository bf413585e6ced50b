import type { Instant } from '@cronjob-monitor/shared/domain';
import {
  forgetCronJob,
  listCronJobMarks,
  projectCronJobs,
  type CronJobMarks,
  type CronJobSeen,
  type Store,
} from '@cronjob-monitor/shared/store';

/** What the CronJob reconciler reads from and writes to the store. */
export interface CronJobRecords {
  /** What earlier processes left, of those this one has not written yet: only for these a gap lies between then and now. */
  readMarks(uids: readonly string[]): Promise<ReadonlyMap<string, CronJobMarks>>;
  /** Rows and epochs of those seen that differ from what was written last, and the end of those gone. */
  write(change: { seen: readonly CronJobSeen[]; gone: readonly string[]; at: Instant }): Promise<WrittenCronJobs>;
}

export interface WrittenCronJobs {
  /** UIDs of those written first by this process. */
  readonly first: readonly string[];
  /** UIDs of those whose spec says something else about which runs are due. */
  readonly respecified: readonly string[];
}

export function createCronJobRecords(store: Store, epoch: number): CronJobRecords {
  /** What was written last for each, as text: most events of a CronJob tell that its Jobs come and go. */
  const written = new Map<string, string>();
  const specs = new Map<string, string>();

  return {
    async readMarks(uids) {
      const unwritten = uids.filter((uid) => !written.has(uid));
      return unwritten.length === 0 ? new Map() : listCronJobMarks(store, unwritten);
    },

    async write({ seen, gone, at }) {
      const changed = seen.filter((item) => written.get(item.facts.uid) !== textOf(item));
      // A CronJob that was never watched is no news when it goes; the store knows.
      if (changed.length === 0 && gone.length === 0) return { first: [], respecified: [] };
      await store.fenced(epoch, async (tx) => {
        if (changed.length > 0) await projectCronJobs(tx, changed);
        for (const uid of gone) await forgetCronJob(tx, uid, at);
      });
      const first = changed.filter((item) => !written.has(item.facts.uid)).map((item) => item.facts.uid);
      const respecified: string[] = [];
      for (const item of changed) {
        const { uid } = item.facts;
        const spec = specOf(item);
        if (written.has(uid) && specs.get(uid) !== spec) respecified.push(uid);
        written.set(uid, textOf(item));
        specs.set(uid, spec);
      }
      for (const uid of gone) {
        written.delete(uid);
        specs.delete(uid);
      }
      return { first, respecified };
    },
  };
}

/** What decides which runs are due. */
function specOf({ facts: { schedule, timeZone, suspended, policy, deadlineS } }: CronJobSeen): string {
  return JSON.stringify([schedule, timeZone, suspended, policy, deadlineS]);
}

/** All that the row holds, and nothing else. */
function textOf({ facts, problem, nextRunAt }: CronJobSeen): string {
  const { labels, notes, schedule, timeZone, suspended, policy, deadlineS, generation, lastScheduleAt, lastSuccessAt } =
    facts;
  return JSON.stringify([
    labels,
    notes,
    schedule,
    timeZone,
    suspended,
    policy,
    deadlineS,
    generation,
    lastScheduleAt,
    lastSuccessAt,
    problem,
    nextRunAt,
  ]);
}
