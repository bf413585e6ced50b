import type { Execution } from '@cronjob-monitor/shared/domain';
import {
  listActiveJobs,
  listPresentObjects,
  mostRunsAtOnce,
  recordRuns,
  type Store,
} from '@cronjob-monitor/shared/store';
import type { ClusterCaches } from '../selection/index.ts';
import type { Queues } from '../reconcilers/queues.ts';
import { toUnobserved, type JobIntake } from '../reconcilers/job/index.ts';

/**
 * What went unwatched: the catalog and the Jobs last seen running, compared with a full list of the cluster. Objects that are
 * gone are queued, so that their rows say so; runs whose Job is gone are recorded as not seen. Repeatable.
 */
export async function sweepWhatWent(
  deps: {
    readonly store: Store;
    readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs' | 'monitors' | 'channels'>;
    readonly intake: Pick<JobIntake, 'snapshots'>;
    readonly queues: Queues;
  },
  epoch: number,
): Promise<readonly Execution[]> {
  const { store, caches, queues } = deps;
  const present = await listPresentObjects(store);
  for (const { uid } of present.cronJobs) if (!caches.cronJobs.find(uid)) queues.CronJobHandler.add(uid);
  for (const uid of present.monitors) if (!caches.monitors.find(uid)) queues.CronJobMonitor.add(uid);
  for (const uid of present.channels) if (!caches.channels.find(uid)) queues.AlertChannel.add(uid);

  const names = new Map(present.cronJobs.map((cronJob) => [cronJob.uid, cronJob]));
  const running = await listActiveJobs(store);
  const lost = running
    .filter((job) => !caches.jobs.find(job.jobUid) && !deps.intake.snapshots.find(job.jobUid))
    .map((job) => toUnobserved(job, names.get(job.cronJobUid) ?? { namespace: '', name: '' }));
  const recorded: Execution[] = [];
  for (let from = 0; from < lost.length; from += mostRunsAtOnce) {
    const part = lost.slice(from, from + mostRunsAtOnce);
    const { inserted } = await recordRuns(store, epoch, part);
    recorded.push(...part.filter(({ jobUid }) => inserted.includes(jobUid)));
  }
  return recorded;
}
