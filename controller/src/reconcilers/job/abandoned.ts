import type { Execution } from '@cronjob-monitor/shared/domain';
import type { ActiveJob } from '@cronjob-monitor/shared/store';

/**
 * The record of a run that was seen going on last, and is no longer in the cluster: it ran, and its outcome could not
 * be seen. It gives way when something later tells how it ended.
 */
export function toUnobserved(job: ActiveJob, of: { readonly namespace: string; readonly name: string }): Execution {
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
