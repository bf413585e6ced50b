import { isOver, nextSnapshot, type JobFacts, type JobSnapshot, type PodFacts } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import { UntoldRuns } from './untold-runs.ts';
import { createPodMemory, type PodMemory } from './pod-memory.ts';
import { watchJobs } from './watches.ts';
import { Snapshots, type EventHandler, type ObjectCache } from '../../runtime/index.ts';

/** What every replica remembers of Jobs, so that a change of leader loses no run: ended states, gone pods, undecided departures. */
export interface JobIntake {
  readonly snapshots: Snapshots<JobSnapshot>;
  readonly pods: PodMemory;
  readonly untold: UntoldRuns;
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
    untold: new UntoldRuns(deps.clock),
    ...watches,
    markUndecided(cronJobUid, jobUid, isUndecided) {
      const jobs = undecided.get(cronJobUid);
      if (isUndecided) undecided.set(cronJobUid, (jobs ?? new Set()).add(jobUid));
      else if (jobs?.delete(jobUid) && jobs.size === 0) undecided.delete(cronJobUid);
    },
  };
}
