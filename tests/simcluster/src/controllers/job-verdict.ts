import { conditionOf, type Job, type JobStatus, type Pod } from './batch-objects.ts';
import { readIndexes } from './index-ranges.ts';
import { countsAsFailed, failureCountOf, indexOf, isTracked, matchPolicy, metSuccessPolicy } from './job-pods.ts';

/** A decision about the end of a Job, before its pods are counted. */
export interface Verdict {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

interface JobFacts {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly now: number;
}

interface IndexSets {
  readonly succeeded: ReadonlySet<number>;
  readonly failed: ReadonlySet<number>;
}

/** Why the Job has ended or must end, first reason first; undefined while it may go on. */
export function verdictOn(facts: JobFacts, indexes: IndexSets): Verdict | undefined {
  const { job, pods, now } = facts;
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const known = conditionOf(job, type);
    if (known?.status === 'True') return { type, reason: known.reason, message: known.message };
  }
  const policyMessage = failJobMessage(job, pods);
  if (policyMessage !== undefined) return failure('PodFailurePolicy', policyMessage);
  if (pastBackoffLimit(job, pods))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const deadlineAt = deadlineOf(job, job.status);
  if (deadlineAt !== undefined && now >= deadlineAt) {
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  return indexVerdict(job, indexes);
}

function failure(reason: string, message: string): Verdict {
  return { type: 'FailureTarget', reason, message };
}

function failJobMessage(job: Job, pods: readonly Pod[]): string | undefined {
  for (const pod of pods) {
    if (pod.status.phase !== 'Failed') continue;
    const match = matchPolicy(job, pod);
    if (match?.action === 'FailJob') return match.message;
  }
  return undefined;
}

function pastBackoffLimit(job: Job, pods: readonly Pod[]): boolean {
  const limit = job.spec.backoffLimit ?? 6;
  const uncounted = job.status.uncountedTerminatedPods?.failed ?? [];
  const fresh = pods.filter(
    (pod) =>
      isTracked(pod) &&
      !uncounted.includes(pod.metadata.uid) &&
      countsAsFailed(pod, job) &&
      matchPolicy(job, pod)?.action !== 'Ignore',
  );
  if ((job.status.failed ?? 0) + uncounted.length + fresh.length > limit) return true;
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  // Containers that are started again in their pod count too, as long as the pod is there.
  const restarts = pods
    .filter((pod) => pod.status.phase === 'Running' || pod.status.phase === 'Pending')
    .flatMap((pod) => [...(pod.status.containerStatuses ?? []), ...(pod.status.initContainerStatuses ?? [])])
    .reduce((sum, status) => sum + status.restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** When the Job has run too long; undefined when it has no such limit, or does not run. */
export function deadlineOf(job: Job, status: JobStatus): number | undefined {
  const seconds = job.spec.activeDeadlineSeconds;
  if (seconds === undefined || job.spec.suspend === true || status.startTime === undefined) return undefined;
  return Date.parse(status.startTime) + seconds * 1000;
}

function indexVerdict(job: Job, { succeeded, failed }: IndexSets): Verdict | undefined {
  const { completionMode, backoffLimitPerIndex, maxFailedIndexes, completions } = job.spec;
  if (completionMode !== 'Indexed') return undefined;
  if (backoffLimitPerIndex !== undefined) {
    if (maxFailedIndexes !== undefined && failed.size > maxFailedIndexes) {
      const message = 'Job has exceeded the specified maximal number of failed indexes';
      return failure('MaxFailedIndexesExceeded', message);
    }
    if (failed.size > 0 && failed.size + succeeded.size >= (completions ?? 0)) {
      return failure('FailedIndexes', 'Job has failed indexes');
    }
  }
  const message = metSuccessPolicy(job, succeeded);
  return message === undefined ? undefined : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
}

/** Indexes that are done: counted ones, and those of pods that succeeded since. */
export function succeededIndexesOf(job: Job, pods: readonly Pod[]): Set<number> {
  const { completionMode, completions } = job.spec;
  if (completionMode !== 'Indexed') return new Set();
  const indexes = readIndexes(job.status.completedIndexes ?? '', completions);
  for (const pod of pods) {
    const index = indexOf(pod);
    if (pod.status.phase === 'Succeeded' && isTracked(pod) && index !== undefined) indexes.add(index);
  }
  return indexes;
}

/** Indexes that are given up, where failures count per index. */
export function failedIndexesOf(job: Job, pods: readonly Pod[]): Set<number> {
  const { completionMode, completions, backoffLimitPerIndex } = job.spec;
  if (completionMode !== 'Indexed' || backoffLimitPerIndex === undefined) return new Set();
  const indexes = readIndexes(job.status.failedIndexes ?? '', completions);
  for (const pod of pods) {
    const index = indexOf(pod);
    if (index === undefined || !isTracked(pod) || !countsAsFailed(pod, job)) continue;
    const action = matchPolicy(job, pod)?.action;
    const spent = failureCountOf(pod) >= backoffLimitPerIndex;
    if (action === 'FailIndex' || (action !== 'Ignore' && spent)) indexes.add(index);
  }
  return indexes;
}
