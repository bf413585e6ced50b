import {
  type CreateRefusal,
  type CronJobFacts,
  type Instant,
  type JobFacts,
  type JobSnapshot,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import type { Snapshot } from '../../runtime/index.ts';
import type { PodMemory } from './pod-memory.ts';

/** One Job with all that decides about its run, as it is in memory now. */
export interface GatheredJob {
  readonly snapshot: JobSnapshot;
  /** What is kept of it until its run is recorded; undefined while it simply goes on. */
  readonly held: Snapshot<JobSnapshot> | undefined;
  readonly pods: readonly PodFacts[];
  /** That the cluster does not create its pods, as far as its events were read. */
  readonly refusal?: CreateRefusal | undefined;
  /** Undefined when it is gone from the cluster, or not seen yet. */
  readonly cronJob: CronJobFacts | undefined;
  /** Other Jobs of the CronJob that are in the cluster. */
  readonly siblings: readonly JobFacts[];
  readonly monitored: boolean;
}

/** Where the facts lie; all of it in memory. */
export interface JobSources {
  readonly jobs: { find(uid: string): JobFacts | undefined; listBy(index: 'cronJob', uid: string): JobFacts[] };
  /** The last state of Jobs whose end is not recorded yet. */
  readonly snapshots: {
    find(uid: string): Snapshot<JobSnapshot> | undefined;
    /** Of a CronJob those that need no more watching, in the order in which they ended. */
    listEndedOf(cronJobUid: string): readonly string[];
  };
  /** A gone Job whose run was recorded before its pods told how it ended. */
  readonly untold: { find(uid: string): JobSnapshot | undefined };
  readonly pods: PodMemory;
  readonly refusalOf: (jobUid: string) => CreateRefusal | undefined;
  /** A CronJob that is there, or has been deleted lately. */
  readonly findCronJob: (uid: string) => CronJobFacts | undefined;
  /** Whether a monitor selects the CronJob, or did when it was deleted. */
  readonly isMonitored: (cronJobUid: string) => boolean;
  /** Of a group of Jobs those that a monitor selects are runs. */
  readonly takesJob: (job: JobFacts) => boolean;
}

/** Undefined when nothing is known of the Job: it was recorded, and has left the cluster. */
export function gatherJob(uid: string, from: JobSources): GatheredJob | undefined {
  const live = from.jobs.find(uid);
  const held = from.snapshots.find(uid);
  const snapshot = held?.state ?? (live ? { job: live, gone: undefined } : from.untold.find(uid));
  if (!snapshot) return undefined;
  const { job } = snapshot;
  return {
    snapshot,
    held,
    pods: from.pods.podsOf(uid),
    refusal: from.refusalOf(uid),
    cronJob: from.findCronJob(job.cronJobUid),
    siblings: from.jobs.listBy('cronJob', job.cronJobUid).filter((other) => other.uid !== uid),
    monitored: from.isMonitored(job.cronJobUid) && from.takesJob(job),
  };
}

/** Jobs that one transaction records, and those that have to wait for the next. */
interface Together {
  readonly uids: readonly string[];
  readonly later: readonly string[];
}

/**
 * These Jobs with all others of their CronJobs that have ended and have no row yet: what would be found after a run is not found while a
 * later one, which had ended as well, waits in the queue, as many do when a database comes back. `most` at once: CronJobs that do not fit
 * whole wait, and of one that has more by itself the runs that ended first are taken, so that each turn records something.
 */
export function withOtherEnds(uids: readonly string[], { snapshots, jobs }: JobSources, most: number): Together {
  const ownerOf = (uid: string): string => (snapshots.find(uid)?.state.job ?? jobs.find(uid))?.cronJobUid ?? uid;
  const taken = new Set<string>();
  const later: string[] = [];
  for (const [owner, given] of Map.groupBy(uids, ownerOf)) {
    const whole = new Set([...snapshots.listEndedOf(owner), ...given]);
    if (taken.size > 0 && taken.size + whole.size > most) later.push(...given);
    else for (const uid of [...whole].slice(0, most)) taken.add(uid);
  }
  return { uids: [...taken], later: [...later, ...uids.filter((uid) => !taken.has(uid) && !later.includes(uid))] };
}

/** A run is late news when it ended before we began to watch, of a CronJob that some monitor judged then already. */
export function endedUnwatched(
  endedAt: Instant | undefined,
  watch: { readonly sinceAt: Instant; readonly judgedSinceAt: Instant | undefined },
): boolean {
  return (
    endedAt !== undefined &&
    endedAt < watch.sinceAt &&
    watch.judgedSinceAt !== undefined &&
    watch.judgedSinceAt <= endedAt
  );
}
