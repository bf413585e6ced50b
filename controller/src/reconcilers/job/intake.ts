import {
  isOver,
  nextSnapshot,
  type Instant,
  type JobFacts,
  type JobSnapshot,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import { createPodMemory, type PodMemory } from './pod-memory.ts';
import { Snapshots, type EventHandler, type ObjectCache, type ObjectEvent } from '../../runtime/index.ts';

/** What every replica remembers of Jobs, so that a change of leader loses no run: ended states, gone pods, undecided departures. */
export interface JobIntake {
  readonly snapshots: Snapshots<JobSnapshot>;
  readonly pods: PodMemory;
  /** Jobs of a CronJob that a watch saw go and whose runs are not written yet; one that had not ended ends as it goes. */
  goneJobsOf(cronJobUid: string): readonly JobFacts[];
  readonly untold: {
    find(jobUid: string): JobSnapshot | undefined;
    /** Once; until when, or undefined: not any longer. */
    keep(snapshot: JobSnapshot): Instant | undefined;
    forget(jobUid: string): void;
  };
  readonly onJob: EventHandler<JobFacts>;
  readonly onPod: EventHandler<PodFacts>;
  markUndecided(cronJobUid: string, jobUid: string, isUndecided: boolean): void;
}

export function createJobIntake(deps: {
  readonly pods: ObjectCache<PodFacts, 'job'>;
  readonly queue: (jobUid: string) => void;
  readonly onDropped: () => void;
  readonly clock: Clock;
}): JobIntake {
  const undecided = new Map<string, Set<string>>();
  const snapshots = new Snapshots<JobSnapshot>({
    clock: deps.clock,
    uidOf: ({ job }) => job.uid,
    next: nextSnapshot,
    isEnded: isOver,
    groupOf: ({ job }) => job.cronJobUid,
    onDropped: deps.onDropped,
  });
  const pods = createPodMemory(deps.pods);
  const watches = watchJobs({
    snapshots,
    pods,
    queue: deps.queue,
    undecidedOf: (cronJobUid) => undecided.get(cronJobUid) ?? [],
    clock: deps.clock,
  });
  return {
    snapshots,
    pods,
    untold: createUntold(deps.clock),
    goneJobsOf: (cronJobUid) =>
      snapshots.listEndedOf(cronJobUid).flatMap((uid): JobFacts[] => {
        const { job, gone } = snapshots.find(uid)?.state ?? {};
        return job && gone?.seen ? [{ ...job, endedAt: job.endedAt ?? gone.at }] : [];
      }),
    ...watches,
    markUndecided(cronJobUid, jobUid, isUndecided) {
      const jobs = undecided.get(cronJobUid);
      if (isUndecided) undecided.set(cronJobUid, (jobs ?? new Set()).add(jobUid));
      else if (jobs?.delete(jobUid) && jobs.size === 0) undecided.delete(cronJobUid);
    },
  };
}

/** For so long a watch of pods may be behind that of Jobs: its longest back-off is 30 s. */
const waitedForMs = 120_000;
/** Beyond so many no more are kept: those runs then lack an exit code, and nothing else. */
const mostUntold = 5_000;

/**
 * Jobs that are gone and whose failed runs are recorded without an exit code, since their pods had not told it: what these say later is
 * stored with the run, which without its Job would be unknown.
 */
function createUntold(clock: Clock): JobIntake['untold'] {
  const kept = new Map<string, { readonly snapshot: JobSnapshot; readonly untilAt: Instant }>();
  return {
    find: (jobUid) => kept.get(jobUid)?.snapshot,
    keep(snapshot) {
      const { uid } = snapshot.job;
      const untilAt = kept.get(uid)?.untilAt ?? clock.now() + waitedForMs;
      if (untilAt <= clock.now() || (!kept.has(uid) && kept.size >= mostUntold)) return undefined;
      kept.set(uid, { snapshot, untilAt });
      return untilAt;
    },
    forget: (jobUid) => void kept.delete(jobUid),
  };
}

/** Which events wake which Jobs. Handlers take no time and wait for nothing. */
function watchJobs(deps: {
  readonly snapshots: Pick<Snapshots<JobSnapshot>, 'put'>;
  readonly pods: PodMemory;
  /** Queues a Job UID; does nothing on a follower. */
  readonly queue: (jobUid: string) => void;
  /** UIDs of gone Jobs of this CronJob that wait for a newer one to appear. */
  readonly undecidedOf: (cronJobUid: string) => Iterable<string>;
  readonly clock: Clock;
}): {
  onJob: (event: ObjectEvent<JobFacts>) => void;
  onPod: (event: ObjectEvent<PodFacts>) => void;
} {
  return {
    onJob(event) {
      const { item } = event;
      // Its last state is kept beside its key: the Job may be gone when its turn comes.
      const gone = event.type === 'deleted' ? { at: deps.clock.now(), seen: !event.tombstone } : undefined;
      if (gone || item.outcome) deps.snapshots.put({ job: item, gone });
      deps.queue(item.uid);
      // It may be the one that replaced a Job which has just gone.
      if (event.type === 'added') for (const uid of deps.undecidedOf(item.cronJobUid)) deps.queue(uid);
    },
    onPod(event) {
      const { item } = event;
      if (event.type === 'deleted') deps.pods.lost(item, deps.clock.now());
      else deps.pods.observe(item);
      // Phase, readiness and exit code of the pod are shown with its Job.
      deps.queue(item.jobUid);
    },
  };
}
