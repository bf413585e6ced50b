import type { Instant } from '../instant.ts';
import { countAttempts } from './attempts.ts';
import type { Execution, ExecutionStatus } from './execution.ts';
import { findExitCause } from './exit-cause.ts';
import { formatIndexes, unmendedIndexes } from './indexes.ts';
import type { JobFacts } from './job.ts';
import { originOf, type SlotClaim } from './origin.ts';
import { elapsedMs } from './outcome.ts';
import type { PodFacts } from './pod.ts';
import type { VanishedStatus } from './vanished.ts';

/** What an execution says besides its Job and pods. */
export interface ExecutionContext {
  /** Other Jobs of this CronJob that name the same slot. */
  readonly otherClaims: readonly SlotClaim[];
  /** How the Job went without a terminal condition, and when we learned of it. Ignored when it has one. */
  readonly vanished: { readonly status: VanishedStatus; readonly at: Instant } | undefined;
  /** It ended in a gap in which nobody watched. */
  readonly delayed: boolean;
  readonly inMaintenance: boolean;
}

/**
 * Makes the record of an ended run; undefined while it has no end. Outcome and end come from the Job's terminal condition alone; exit
 * code and reason come from its pods, and a success has neither. Of a run that was taken away, only pods that failed before it speak:
 * how the others ended is a consequence.
 */
export function toExecution(
  job: JobFacts,
  pods: readonly PodFacts[],
  context: ExecutionContext,
): Execution | undefined {
  const status: ExecutionStatus | undefined = job.outcome ?? context.vanished?.status;
  if (status === undefined) return undefined;
  const telling = status === 'failed' ? pods : pods.filter((pod) => pod.phase === 'Failed' && !pod.deletingAt);
  const cause = status === 'success' ? undefined : findExitCause(job, telling);
  const finishedAt = job.outcome ? job.endedAt : knownEnd(context);
  const newest = pods.reduce<PodFacts | undefined>((a, b) => (a && a.createdAt >= b.createdAt ? a : b), undefined);
  return {
    jobUid: job.uid,
    cronJobUid: job.cronJobUid,
    namespace: job.namespace,
    cronJobName: job.cronJobName,
    jobName: job.name,
    ...originOf(job, context.otherClaims),
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    finishedAt,
    durationMs: elapsedMs(job.startedAt, finishedAt),
    status,
    exitCode: cause?.exitCode,
    reason: cause?.reason,
    jobReason: job.jobReason,
    attempts: countAttempts(job, pods),
    failedIndexes: job.failedIndexes ?? failedIndexesOf(job, status, pods),
    isRetry: job.isRetry,
    retryOf: job.retryOf,
    node: cause?.pod?.node ?? newest?.node,
    templateHash: job.templateHash,
    delayed: context.delayed,
    inferred: false,
    inMaintenance: context.inMaintenance,
  };
}

/** A run that was seen to go ended then; one that nobody saw end has no known end. */
function knownEnd({ vanished }: ExecutionContext): Instant | undefined {
  return vanished && vanished.status !== 'unobserved' ? vanished.at : undefined;
}

function failedIndexesOf(job: JobFacts, status: ExecutionStatus, pods: readonly PodFacts[]): string | undefined {
  if (!job.indexed || status !== 'failed') return undefined;
  return formatIndexes(unmendedIndexes(pods)) || undefined;
}
