import { slotOf, type JobFacts, type PodFacts } from '@cronjob-monitor/shared/domain';
import type { ActiveJob } from '@cronjob-monitor/shared/store';

/** The row of a Job that has not ended, with the pod that shows best how it fares: the newest. */
export function toActiveJob(job: JobFacts, pods: readonly PodFacts[]): ActiveJob {
  const newest = pods.reduce<PodFacts | undefined>((a, b) => (a && a.createdAt >= b.createdAt ? a : b), undefined);
  const regular = newest?.containers.filter((container) => !container.init) ?? [];
  const scheduledAt = slotOf(job);
  return {
    jobUid: job.uid,
    cronJobUid: job.cronJobUid,
    jobName: job.name,
    trigger: scheduledAt === undefined ? (job.manual ? 'manual' : 'unmatched') : 'scheduled',
    scheduledAt,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    podName: newest?.name,
    podPhase: newest?.phase,
    ready: newest && `${regular.filter((container) => container.ready).length}/${regular.length}`,
    finishing: job.decidedAt !== undefined,
  };
}

/** True when nothing that is shown differs. */
export function sameActiveJob(a: ActiveJob | undefined, b: ActiveJob): boolean {
  return (
    a !== undefined &&
    a.startedAt === b.startedAt &&
    a.podName === b.podName &&
    a.podPhase === b.podPhase &&
    a.ready === b.ready &&
    a.finishing === b.finishing
  );
}
