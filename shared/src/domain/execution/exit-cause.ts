import { isHopelessReason } from './hopeless-wait.ts';
import { lowestIndex, unmendedIndexes } from './indexes.ts';
import type { JobFacts } from '../objects/job.ts';
import { podEndedAt } from './attempts.ts';
import type { ContainerFacts, PodFacts, Termination } from '../objects/pod.ts';

/** Why a run failed, as the pods of its Job tell it. */
export interface ExitCause {
  /** Undefined when no container of the Job is known to have ended with a code other than 0. */
  readonly exitCode: number | undefined;
  /** Of the container or pod; of the Job's condition when no pod tells anything. */
  readonly reason: string | undefined;
  /** What the container or pod said about its end. */
  readonly message: string | undefined;
  readonly pod: PodFacts | undefined;
  /** The container whose log explains the end. */
  readonly container: string | undefined;
  /** The end is that of an instance before the last restart: so is the log that explains it. */
  readonly previous: boolean;
}

/** Reasons by weight: the heavier one names the cause when container and pod each give one. Unlisted reasons weigh 1. */
const weights: Readonly<Record<string, number>> = {
  OOMKilled: 5,
  ContainerCannotRun: 4,
  StartError: 4,
  Evicted: 3,
  NodeLost: 3,
  PreemptionByScheduler: 3,
  EvictionByEvictionAPI: 3,
  DeletionByTaintManager: 3,
  DeletionByPodGC: 3,
  TerminationByKubelet: 3,
  DeadlineExceeded: 2,
  Error: 0,
};

/** Waiting reasons of every ordinary start: they explain nothing. */
const ordinaryWaits = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * Finds the exit code and the reason of a failed run. Pods in order: failed ones, newest end first; those with an ended container; the
 * newest. In a pod: a regular container that ended badly (the earliest: the root cause), the same before its last restart, an init
 * container, what a container waits for in vain, the pod itself, what a container waits for. The first that tells something wins; else the Job's condition does.
 * Of an indexed Job the lowest failed index speaks first.
 */
export function findExitCause(
  job: Pick<JobFacts, 'indexed' | 'failedIndexes' | 'jobReason'>,
  pods: readonly PodFacts[],
): ExitCause {
  for (const pod of inOrderOfInterest(job, pods)) {
    const cause = causeIn(pod);
    if (cause) return cause;
  }
  return {
    exitCode: undefined,
    reason: job.jobReason,
    message: undefined,
    pod: undefined,
    container: undefined,
    previous: false,
  };
}

function inOrderOfInterest(job: Pick<JobFacts, 'indexed' | 'failedIndexes'>, pods: readonly PodFacts[]): PodFacts[] {
  const first = job.indexed ? (lowestIndex(job.failedIndexes) ?? unmendedIndexes(pods)[0]) : undefined;
  const groupOf = (pod: PodFacts): number => {
    if (pod.phase === 'Failed') return pod.index === first ? 0 : 1;
    return pod.containers.some(({ terminated }) => terminated) ? 2 : 3;
  };
  const byName = (a: PodFacts, b: PodFacts): number => (a.name < b.name ? -1 : 1);
  return [...pods].sort((a, b) => groupOf(a) - groupOf(b) || endOrCreation(b) - endOrCreation(a) || byName(a, b));
}

function endOrCreation(pod: PodFacts): number {
  return podEndedAt(pod) ?? pod.createdAt;
}

function causeIn(pod: PodFacts): ExitCause | undefined {
  const regular = pod.containers.filter(({ init }) => !init);
  const init = pod.containers.filter(({ init, sidecar }) => init && !sidecar);
  const ended = worstEnd(regular, 'terminated') ?? worstEnd(regular, 'lastTerminated') ?? firstBadInit(init);
  const ofPod = pod.reason ?? pod.disruption;
  if (ended) {
    const { termination } = ended;
    const podWins = weightOf(ofPod) > weightOf(termination.reason);
    return {
      exitCode: termination.exitCode,
      reason: podWins ? ofPod : termination.reason,
      message: podWins ? (pod.message ?? termination.message) : termination.message,
      pod,
      container: ended.container,
      previous: ended.previous,
    };
  }
  const withoutCode = { exitCode: undefined, pod, previous: false };
  const waiting = pod.containers.find((container) => isTellingWait(container));
  // It would not have run either if nothing had taken its pod away.
  if (waiting && (ofPod === undefined || isHopelessReason(waiting.waiting)))
    return { ...withoutCode, reason: waiting.waiting, message: waiting.waitingMessage, container: waiting.name };
  if (ofPod !== undefined) {
    return { ...withoutCode, reason: ofPod, message: pod.message, container: regular[0]?.name };
  }
  if (pod.unscheduled !== undefined) {
    return { ...withoutCode, reason: pod.unscheduled, message: pod.message, container: undefined };
  }
  return undefined;
}

interface BadEnd {
  readonly container: string;
  readonly termination: Termination;
  readonly previous: boolean;
}

/** The earliest end with a code other than 0; of two within one second, the one with the heavier reason. */
function worstEnd(containers: readonly ContainerFacts[], which: 'terminated' | 'lastTerminated'): BadEnd | undefined {
  const ends = containers.flatMap((container) => badEnd(container, which));
  return ends.sort(
    (a, b) => finish(a) - finish(b) || weightOf(b.termination.reason) - weightOf(a.termination.reason),
  )[0];
}

function firstBadInit(init: readonly ContainerFacts[]): BadEnd | undefined {
  return init.flatMap((container) => [...badEnd(container, 'terminated'), ...badEnd(container, 'lastTerminated')])[0];
}

function badEnd(container: ContainerFacts, which: 'terminated' | 'lastTerminated'): BadEnd[] {
  const termination = container[which];
  if (!termination || termination.exitCode === 0) return [];
  return [{ container: container.name, termination, previous: which === 'lastTerminated' }];
}

function finish(end: BadEnd): number {
  return end.termination.finishedAt ?? Number.MAX_SAFE_INTEGER;
}

export function weightOf(reason: string | undefined): number {
  return reason === undefined ? -1 : (weights[reason] ?? 1);
}

/** Whether what a container waits for says why it does not run. */
export function isTellingWait({ waiting }: ContainerFacts): boolean {
  return waiting !== undefined && !ordinaryWaits.has(waiting);
}
