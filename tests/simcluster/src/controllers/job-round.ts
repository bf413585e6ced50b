import { ApiError } from '../http/api-error.ts';
import type { Kind } from '../kinds/kind.ts';
import { printTime } from '../schema/go-time.ts';
import { admitToNamespace, admitToQuota } from '../verbs/admission.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import { conditionOf, type Job, type JobCondition, type JobStatus, type Pod } from './batch-objects.ts';
import type { EventRecorder } from './event-recorder.ts';
import { printIndexes } from './index-ranges.ts';
import {
  countsAsFailed,
  failureCountOf,
  indexOf,
  isActive,
  isReady,
  isTerminating,
  isTracked,
  matchPolicy,
  withoutTracking,
} from './job-pods.ts';
import type { Turn } from './key-queue.ts';
import { deadlineOf, failedIndexesOf, succeededIndexesOf, verdictOn, type Verdict } from './job-verdict.ts';
import type { OwnerIndex } from './owner-index.ts';
import { podOfJob } from './pod-of-job.ts';
import { podStarts, type PodStart } from './pod-starts.ts';

export interface JobDeps extends VerbDeps {
  readonly owners: OwnerIndex;
  readonly recorder: EventRecorder;
  /** How long a Job waits after its first failed pod. */
  readonly backOffMs: number;
}

interface RoundDeps extends JobDeps {
  readonly jobs: Kind;
  readonly pods: Kind;
  readonly nextStartAt: number;
  readonly wakeAt: (at: number) => void;
}

/** From one batch of new pods to the next, each twice as large as the one before. */
const batchGapMs = 30;
/** From the note that pods ended until they are counted. Nodes and other controllers are heard in between. */
const countMs = 4;

/** One look of the controller at one Job. */
export class JobRound {
  #job: Job;
  #status: JobStatus;
  readonly #pods: readonly Pod[];
  readonly #deps: RoundDeps;
  readonly #now: number;
  readonly #succeededIndexes: Set<number>;
  readonly #failedIndexes: Set<number>;
  #active: number;
  #terminating: number;

  constructor(job: Job, pods: readonly Pod[], deps: RoundDeps) {
    this.#job = job;
    this.#status = job.status;
    this.#pods = pods;
    this.#deps = deps;
    this.#now = deps.clock.now();
    this.#succeededIndexes = succeededIndexesOf(job, pods);
    this.#failedIndexes = failedIndexesOf(job, pods);
    this.#active = pods.filter(isActive).length;
    this.#terminating = pods.filter(isTerminating).length;
  }

  /** Yields how long the next part waits. */
  *run(): Turn {
    const { spec } = this.#job;
    const suspended = spec.suspend === true;
    if (this.#status.startTime === undefined && !suspended) this.#set({ startTime: printTime(this.#now) });
    let verdict = verdictOn(
      { job: { ...this.#job, status: this.#status }, pods: this.#pods, now: this.#now },
      { succeeded: this.#succeededIndexes, failed: this.#failedIndexes },
    );
    const deadlineAt = deadlineOf(this.#job, this.#status);
    if (verdict === undefined && deadlineAt !== undefined) this.#deps.wakeAt(deadlineAt);
    let flush = false;
    const ready = this.#pods.filter((pod) => isActive(pod) && isReady(pod)).length;
    if (verdict !== undefined) this.#deleteActive();
    else if (this.#job.metadata.deletionTimestamp === undefined) {
      yield* this.#balance(suspended);
      if (this.#isComplete()) {
        verdict = {
          type: 'SuccessCriteriaMet',
          reason: 'CompletionsReached',
          message: 'Reached expected number of succeeded pods',
        };
      } else flush = this.#noteSuspension(suspended);
    }
    // Pods that were just deleted are not ready any more.
    const stillReady = this.#active === 0 ? 0 : ready;
    const counted = this.#noteCounters(stillReady);
    yield* this.#count(verdict, flush || counted);
  }

  #set(fields: Partial<JobStatus>): void {
    this.#status = { ...this.#status, ...fields };
  }

  /** Ends the pods that still run: the Job is decided. Their mark stays until they are counted. */
  #deleteActive(): void {
    for (const pod of this.#pods.filter(isActive)) {
      this.#deps.writer.remove(this.#deps.pods, pod);
      this.#tell('Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
      this.#active--;
      this.#terminating++;
    }
  }

  #tell(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.recorder.record(this.#job, { type, reason, message });
  }

  /** Brings the number of pods to what it should be. */
  *#balance(suspended: boolean): Turn {
    if (suspended) {
      this.#deletePods(this.#pods.filter(isActive));
      return;
    }
    const { parallelism = 1, completions } = this.#job.spec;
    const succeeded = this.#succeededCount();
    let wanted = parallelism;
    if (completions === undefined) wanted = succeeded > 0 ? this.#active : parallelism;
    else wanted = Math.min(parallelism, Math.max(0, completions - succeeded));
    if (this.#active > wanted) {
      const newest = this.#pods.filter(isActive).toSorted(startedLast);
      this.#deletePods(newest.slice(0, this.#active - wanted));
      return;
    }
    const held = this.#job.spec.podReplacementPolicy === 'Failed' ? this.#terminating : 0;
    const missing = wanted - this.#active - held;
    if (missing > 0) yield* this.#startPods(missing);
  }

  #deletePods(pods: readonly Pod[]): void {
    for (const pod of pods) {
      // Not counted as failed: the mark goes first.
      const released = this.#deps.writer.replace(this.#deps.pods, withoutTracking(pod), pod);
      this.#deps.writer.remove(this.#deps.pods, released);
      this.#tell('Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
      this.#active--;
      this.#terminating++;
    }
  }

  *#startPods(missing: number): Turn {
    const indexes = { succeeded: this.#succeededIndexes, failed: this.#failedIndexes };
    const { nextStartAt, backOffMs } = this.#deps;
    const times = { now: this.#now, nextStartAt, backOffMs };
    const { starts, notBefore } = podStarts({ job: this.#job, pods: this.#pods, missing }, indexes, times);
    for (const at of notBefore) this.#deps.wakeAt(at);
    let rest = starts;
    for (let size = 1; rest.length > 0; size *= 2) {
      for (const start of rest.slice(0, size)) if (!this.#startPod(start)) return;
      rest = rest.slice(size);
      if (rest.length > 0) yield batchGapMs;
    }
  }

  /** False: it was refused, and so would be others. */
  #startPod({ index, failures }: PodStart): boolean {
    const { store, writer, pods } = this.#deps;
    const pod = podOfJob(this.#job, index, failures);
    const { namespace, generateName = '' } = pod.metadata;
    try {
      admitToNamespace(store, pods, namespace, '');
      admitToQuota(store, pods, namespace, generateName);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#tell('Warning', 'FailedCreate', `Error creating: ${error.message}`);
      this.#deps.wakeAt(this.#now + refusedPodRetryMs);
      return false;
    }
    const created = writer.create(pods, pod);
    this.#tell('Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    this.#active++;
    return true;
  }

  /** Pods that succeeded, counted or not. */
  #succeededCount(): number {
    if (this.#job.spec.completionMode === 'Indexed') return this.#succeededIndexes.size;
    const uncounted = this.#status.uncountedTerminatedPods?.succeeded ?? [];
    const fresh = this.#pods.filter(
      (pod) => pod.status.phase === 'Succeeded' && isTracked(pod) && !uncounted.includes(pod.metadata.uid),
    );
    return (this.#status.succeeded ?? 0) + uncounted.length + fresh.length;
  }

  #isComplete(): boolean {
    const { completions } = this.#job.spec;
    const succeeded = this.#succeededCount();
    if (this.#active > 0) return false;
    return completions === undefined ? succeeded > 0 : succeeded >= completions;
  }

  /** True: the condition changed. */
  #noteSuspension(suspended: boolean): boolean {
    const known = conditionOf(this.#job, 'Suspended');
    if (suspended && known?.status !== 'True') {
      this.#putCondition(this.#condition('Suspended', { reason: 'JobSuspended', message: 'Job suspended' }));
      this.#tell('Normal', 'Suspended', 'Job suspended');
      return true;
    }
    if (!suspended && known?.status === 'True') {
      this.#putCondition({
        ...this.#condition('Suspended', { reason: 'JobResumed', message: 'Job resumed' }),
        status: 'False',
      });
      this.#tell('Normal', 'Resumed', 'Job resumed');
      this.#set({ startTime: printTime(this.#now) });
      return true;
    }
    return false;
  }

  #condition(type: string, { reason, message }: { reason: string; message: string }): JobCondition {
    const time = printTime(this.#now);
    return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message };
  }

  #putCondition(condition: JobCondition): void {
    const others = (this.#status.conditions ?? []).filter((one) => one.type !== condition.type);
    this.#set({ conditions: [...others, condition] });
  }

  /** True: a counter changed. */
  #noteCounters(ready: number): boolean {
    const before = this.#status;
    const changed =
      this.#active !== (before.active ?? 0) || ready !== before.ready || this.#terminating !== before.terminating;
    const { active: _active, ...rest } = before;
    this.#status = {
      ...rest,
      ...(this.#active === 0 ? {} : { active: this.#active }),
      ready,
      terminating: this.#terminating,
      uncountedTerminatedPods: before.uncountedTerminatedPods ?? {},
      ...(this.#job.spec.backoffLimitPerIndex === undefined ? {} : { failedIndexes: before.failedIndexes ?? '' }),
    };
    return changed;
  }

  /** Counts ended pods in two steps, so that none is counted twice, and then ends the Job if it is decided. */
  *#count(verdict: Verdict | undefined, flush: boolean): Turn {
    const released = this.#noteEnded(verdict);
    let dirty = flush || released.fresh;
    if (verdict !== undefined && conditionOf(this.#job, verdict.type)?.status !== 'True') {
      this.#putCondition(this.#condition(verdict.type, verdict));
      dirty = true;
    }
    if (dirty) this.#store();
    if (released.pods.length > 0) yield countMs;
    for (const pod of released.pods) {
      const current = this.#deps.store.get('pods', pod.metadata.namespace, pod.metadata.name) as Pod | undefined;
      if (current?.metadata.uid === pod.metadata.uid && isTracked(current)) {
        this.#deps.writer.replace(this.#deps.pods, withoutTracking(current), current);
      }
    }
    dirty = this.#settle();
    const ended = verdict !== undefined && this.#mayEnd();
    if (ended) {
      this.#end(verdict);
      // The event is about the Job before its last write.
      this.#tellEnd(verdict);
    }
    if (dirty || ended) this.#store();
  }

  /** Writes down pods that ended and are not counted yet; gives those whose mark may go. */
  #noteEnded(verdict: Verdict | undefined): { pods: Pod[]; fresh: boolean } {
    const uncounted = this.#status.uncountedTerminatedPods ?? {};
    const succeeded = [...(uncounted.succeeded ?? [])];
    const failed = [...(uncounted.failed ?? [])];
    const indexed = this.#job.spec.completionMode === 'Indexed';
    const pods: Pod[] = [];
    let fresh = false;
    const over = verdict !== undefined || this.#job.metadata.deletionTimestamp !== undefined;
    // As they were when this look began: a pod that was told to go because the Job succeeded has not failed.
    for (const pod of this.#pods) {
      const hasFailed = countsAsFailed(pod, this.#job) || (verdict?.type === 'FailureTarget' && isActive(pod));
      const hasSucceeded = pod.status.phase === 'Succeeded';
      if (!isTracked(pod) || !(hasFailed || hasSucceeded || over)) continue;
      if (!over && this.#waitsForReplacement(pod)) continue;
      pods.push(pod);
      const { uid } = pod.metadata;
      if (hasSucceeded && !indexed && !succeeded.includes(uid)) succeeded.push(uid);
      else if (hasSucceeded && indexed) fresh = true;
      else if (hasFailed && !failed.includes(uid) && this.#countsFailure(pod, verdict)) failed.push(uid);
      else continue;
      fresh = true;
    }
    if (indexed) this.#noteIndexes();
    const lists = { ...(succeeded.length === 0 ? {} : { succeeded }), ...(failed.length === 0 ? {} : { failed }) };
    this.#set({ uncountedTerminatedPods: lists });
    return { pods, fresh };
  }

  /** With a limit per index the failed pod is kept until its follower has taken the count over. */
  #waitsForReplacement(pod: Pod): boolean {
    const { backoffLimitPerIndex } = this.#job.spec;
    const index = indexOf(pod);
    if (backoffLimitPerIndex === undefined || index === undefined || pod.status.phase === 'Succeeded') return false;
    if (this.#failedIndexes.has(index) || this.#succeededIndexes.has(index)) return false;
    if (conditionOf({ ...this.#job, status: this.#status }, 'FailureTarget') !== undefined) return false;
    return !this.#pods.some(
      (other) => other !== pod && indexOf(other) === index && failureCountOf(other) > failureCountOf(pod),
    );
  }

  #countsFailure(pod: Pod, verdict: Verdict | undefined): boolean {
    return verdict?.type === 'FailureTarget' || matchPolicy(this.#job, pod)?.action !== 'Ignore';
  }

  #noteIndexes(): void {
    const completed = printIndexes(this.#succeededIndexes);
    const { completedIndexes: _before, succeeded: _count, ...rest } = this.#status;
    this.#status = {
      ...rest,
      ...(this.#succeededIndexes.size === 0
        ? {}
        : { succeeded: this.#succeededIndexes.size, completedIndexes: completed }),
      ...(this.#job.spec.backoffLimitPerIndex === undefined
        ? {}
        : { failedIndexes: printIndexes(this.#failedIndexes) }),
    };
  }

  /** Moves pods whose mark is gone from the lists to the counters. True: some were. */
  #settle(): boolean {
    const { succeeded = [], failed = [] } = this.#status.uncountedTerminatedPods ?? {};
    if (succeeded.length === 0 && failed.length === 0) return false;
    this.#set({
      ...(succeeded.length === 0 ? {} : { succeeded: (this.#status.succeeded ?? 0) + succeeded.length }),
      ...(failed.length === 0 ? {} : { failed: (this.#status.failed ?? 0) + failed.length }),
      uncountedTerminatedPods: {},
    });
    return true;
  }

  /** The end waits for the last pod to be gone. */
  #mayEnd(): boolean {
    return this.#terminating === 0;
  }

  #end(verdict: Verdict): void {
    const complete = verdict.type === 'SuccessCriteriaMet';
    const condition = this.#condition(complete ? 'Complete' : 'Failed', verdict);
    this.#putCondition(condition);
    if (complete) this.#set({ completionTime: condition.lastTransitionTime });
  }

  #tellEnd({ type, reason, message }: Verdict): void {
    if (type === 'SuccessCriteriaMet') this.#tell('Normal', 'Completed', 'Job completed');
    else this.#tell('Warning', reason, message);
  }

  #store(): void {
    const { namespace, name } = this.#job.metadata;
    const current = this.#deps.store.get('jobs.batch', namespace, name);
    if (current === undefined) return;
    // What is stored under the name of a Job is a Job.
    const next = { ...current, status: this.#status };
    this.#job = this.#deps.writer.replace(this.#deps.jobs, next, current) as Job;
  }
}

/** A pod that was refused is asked for again after so long. */
const refusedPodRetryMs = 10_000;

function startedLast(a: Pod, b: Pod): number {
  return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1;
}
