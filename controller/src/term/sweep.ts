import type { Execution } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  FencedError,
  listActiveJobs,
  listPresentObjects,
  mostRunsAtOnce,
  recordRuns,
  type Store,
  type ActiveJob,
} from '@cronjob-monitor/shared/store';
import type { Term } from '../leadership/index.ts';
import { isDatabaseAway, type Circuit } from '../runtime/index.ts';
import type { ClusterCaches } from '../selection/index.ts';
import type { Queues } from '../reconcilers/queues.ts';
import type { JobIntake } from '../reconcilers/job/index.ts';

interface SweepSources {
  readonly store: Store;
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs' | 'monitors' | 'channels'>;
  readonly intake: Pick<JobIntake, 'snapshots'>;
  readonly queues: Queues;
  readonly circuit: Circuit;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The database may go away under the sweep as under anything else: it is repeated until it went through. */
export async function sweepUntilDone(
  deps: SweepSources,
  term: Term,
  onRecorded: (runs: readonly Execution[]) => void,
): Promise<void> {
  while (!term.signal.aborted) {
    try {
      onRecorded(await sweepWhatWent(deps, term.epoch));
      return;
    } catch (error) {
      if (error instanceof FencedError) return term.lose('another process took the epoch');
      if (isDatabaseAway(error)) deps.circuit.trip(error);
      else deps.logger.warn('what went while no process watched cannot be found yet', { error });
      await deps.circuit.whenClosed(term.signal);
      await deps.clock.sleep(1_000, term.signal).catch(() => {});
    }
  }
}

/**
 * What went unwatched: the catalog and the Jobs last seen running, compared with a full list of the cluster. Objects that are
 * gone are queued, so that their rows say so; runs whose Job is gone are recorded as not seen. Repeatable.
 */
export async function sweepWhatWent(
  deps: Pick<SweepSources, 'store' | 'caches' | 'intake' | 'queues'>,
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

/**
 * The record of a run that was seen going on last, and is no longer in the cluster: it ran, and its outcome could not
 * be seen. It gives way when something later tells how it ended.
 */
function toUnobserved(job: ActiveJob, of: { readonly namespace: string; readonly name: string }): Execution {
  return {
    jobUid: job.jobUid,
    cronJobUid: job.cronJobUid,
    namespace: of.namespace,
    cronJobName: of.name,
    jobName: job.jobName,
    trigger: job.trigger,
    scheduledAt: job.scheduledAt,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    finishedAt: undefined,
    durationMs: undefined,
    status: 'unobserved',
    exitCode: undefined,
    reason: undefined,
    jobReason: undefined,
    attempts: job.podName === undefined ? 0 : 1,
    failedIndexes: undefined,
    isRetry: false,
    retryOf: undefined,
    node: undefined,
    templateHash: undefined,
    delayed: true,
    inferred: false,
    inMaintenance: false,
  };
}
