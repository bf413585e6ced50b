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
    /** Those that need no more watching. */
    listEnded(): readonly (readonly [uid: string, snapshot: Snapshot<JobSnapshot>])[];
  };
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
  const snapshot = held?.state ?? (live && { job: live, gone: undefined });
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

/** So many runs that ended are recorded at most because others of their CronJobs are. */
const mostBesides = 400;

/**
 * These Jobs, and all others of their CronJobs that have ended and have no row yet: what would be found after a run is not found while a later
 * one, which had ended as well, waits in the queue, as many do when a database comes back.
 */
export function withOtherEnds(uids: readonly string[], { snapshots }: JobSources): readonly string[] {
  const owners = new Set(uids.flatMap((uid) => snapshots.find(uid)?.state.job.cronJobUid ?? []));
  const given = new Set(uids);
  const besides = snapshots
    .listEnded()
    .filter(([uid, { state }]) => owners.has(state.job.cronJobUid) && !given.has(uid))
    .map(([uid]) => uid);
  return [...uids, ...besides.slice(0, mostBesides)];
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
