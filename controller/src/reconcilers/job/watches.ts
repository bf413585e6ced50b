import type { JobFacts, JobSnapshot, PodFacts } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { ObjectEvent, Snapshots } from '../../runtime/index.ts';
import type { PodMemory } from './pod-memory.ts';

/** Which events wake which Jobs. Handlers take no time and wait for nothing. */
export function watchJobs(deps: {
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
