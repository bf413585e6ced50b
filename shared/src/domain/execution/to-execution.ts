import type { Instant } from '../instant.ts';
import { countAttempts } from './attempts.ts';
import type { Execution, ExecutionStatus } from './execution.ts';
import { findExitCause } from './exit-cause.ts';
import { faultOfRun } from './fault.ts';
import { formatIndexes, unmendedIndexes } from './indexes.ts';
import type { JobFacts } from '../objects/job.ts';
import { factsOfPods, isOutputKnown } from './output-facts.ts';
import { originOf, type SlotClaim, slotOf } from './origin.ts';
import { elapsedMs } from './outcome.ts';
import type { PodFacts } from '../objects/pod.ts';
import type { ConcurrencyPolicy } from '../objects/cron-job.ts';

/** What an execution says besides its Job and pods. */
export interface ExecutionContext {
  /** Other Jobs of this CronJob that name the same slot. */
  readonly otherClaims: readonly SlotClaim[];
  /** How the Job went without a terminal condition, and when we learned of it. Ignored when it has one. */
  readonly vanished: { readonly status: VanishedStatus; readonly at: Instant } | undefined;
  /** It ended in a gap in which the service did not watch. */
  readonly delayed: boolean;
  readonly inMaintenance: boolean;
  /** A monitor wants its log read for facts where its pods say none. */
  readonly factsFromLogs?: boolean | undefined;
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
  const isKnown = isOutputKnown(status, job, pods);
  const output = isKnown ? factsOfPods(pods) : undefined;
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
    fault: status === 'failed' ? faultOfRun(job, pods, { cause }) : undefined,
    attempts: countAttempts(job, pods),
    failedIndexes: job.failedIndexes ?? failedIndexesOf(job, status, pods),
    isRetry: job.isRetry,
    retryOf: job.retryOf,
    node: cause?.pod?.node ?? newest?.node,
    templateHash: job.templateHash,
    delayed: context.delayed,
    inferred: false,
    inMaintenance: context.inMaintenance,
    output,
    factsUnknown: output === undefined && (!isKnown || context.factsFromLogs === true),
  };
}

/** A run that was seen to go ended then; one whose end was not seen has no known end. */
function knownEnd({ vanished }: ExecutionContext): Instant | undefined {
  return vanished && vanished.status !== 'unobserved' ? vanished.at : undefined;
}

function failedIndexesOf(job: JobFacts, status: ExecutionStatus, pods: readonly PodFacts[]): string | undefined {
  if (!job.indexed || status !== 'failed') return undefined;
  return formatIndexes(unmendedIndexes(pods)) || undefined;
}

/** How long before or after its end another Job of a newer slot is taken as the one that replaced it. */
const replacementWindowMs = 60_000;

type Leaver = Pick<JobFacts, 'uid' | 'name' | 'cronJobName' | 'createdAt' | 'slotAt' | 'manual'>;

type VanishedStatus = 'replaced' | 'deleted' | 'unobserved';

export type Vanishing =
  | { readonly status: VanishedStatus }
  /** Ask again at this instant, or when a newer Job appears: a replacement may still come. */
  | { readonly undecidedUntilAt: Instant };

/**
 * What became of a Job that is gone without a terminal condition. `replaced`: the policy is Replace and the Job of a newer slot appeared
 * within a minute of it; the controller deletes the old one without any mark. `deleted`: another client did. `unobserved`: no watch ran
 * when it went, so it may have ended on its own. A policy of undefined means that the CronJob is gone too.
 */
export function judgeVanished(
  job: Leaver,
  gone: Departure,
  siblings: readonly Leaver[],
  context: { readonly policy: ConcurrencyPolicy | undefined; readonly now: Instant },
): Vanishing {
  if (!gone.seen) return { status: 'unobserved' };
  const slotAt = slotOf(job);
  if (context.policy !== 'Replace' || slotAt === undefined) return { status: 'deleted' };
  const replaced = siblings.some((sibling) => {
    const newer = (slotOf(sibling) ?? -Infinity) > slotAt;
    return newer && sibling.uid !== job.uid && Math.abs(sibling.createdAt - gone.at) <= replacementWindowMs;
  });
  if (replaced) return { status: 'replaced' };
  const undecidedUntilAt = gone.at + replacementWindowMs;
  return context.now < undecidedUntilAt ? { undecidedUntilAt } : { status: 'deleted' };
}

/** That a Job is no longer in the cluster. */
interface Departure {
  /** When we learned of it. */
  readonly at: Instant;
  /** By a watch that saw it go; false: a list no longer had it, and it may have ended while no watch ran. */
  readonly seen: boolean;
}

/** The last that is known of a Job: it outlives the Job until its run is recorded. */
export interface JobSnapshot {
  readonly job: JobFacts;
  /** Undefined while the Job is in the cluster. */
  readonly gone: Departure | undefined;
}

/**
 * The snapshot to keep when one more has arrived; the very `known` when it says nothing new. States: unfinished, ended, and beside them
 * gone. The newest arrival wins, but nothing leads back: an ended Job stays ended and a gone one stays gone, for a list that began before
 * the end may arrive after it. A departure that a watch has seen is not weakened by one that a list noticed.
 */
export function nextSnapshot(known: JobSnapshot | undefined, arrived: JobSnapshot): JobSnapshot {
  if (!known || known.job.uid !== arrived.job.uid) return asDecided(arrived);
  const keepsJob = known.job.outcome !== undefined && arrived.job.outcome === undefined;
  const staleJob = known.gone !== undefined && arrived.gone === undefined && arrived.job.outcome === undefined;
  const job = keepsJob || staleJob ? known.job : arrived.job;
  const gone = strongerDeparture(known.gone, arrived.gone);
  return job === known.job && gone === known.gone ? known : asDecided({ job, gone });
}

/** A Job that is deleted while its pods are still ending ended as its controller had decided: a deletion does not undo a failure. */
function asDecided(snapshot: JobSnapshot): JobSnapshot {
  const { job, gone } = snapshot;
  if (!gone || job.outcome !== undefined || job.decidedAs === undefined) return snapshot;
  const endedAt = job.decidedAt ?? job.startedAt ?? job.createdAt;
  return { job: { ...job, outcome: job.decidedAs, endedAt, decidedAs: undefined }, gone };
}

function strongerDeparture(known: Departure | undefined, arrived: Departure | undefined): Departure | undefined {
  if (!known || !arrived) return known ?? arrived;
  return arrived.seen && !known.seen ? arrived : known;
}

/** Whether the Job needs no more watching: it has ended, or is gone. */
export function isOver({ job, gone }: JobSnapshot): boolean {
  return job.outcome !== undefined || gone !== undefined;
}
