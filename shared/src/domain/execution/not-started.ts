import { isTellingWait } from './exit-cause.ts';
import type { JobFacts } from '../objects/job.ts';
import type { PodFacts } from '../objects/pod.ts';
import { hasRun } from './attempts.ts';

/** Why no container of a Job has run yet. */
interface NotStarted {
  /** Such as ImagePullBackOff, Unschedulable or FailedCreate; undefined when nothing tells. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** Events of the Job and its pods: they explain, they never decide. */
export interface StartEvent {
  readonly reason: string;
  readonly message: string;
}

/** Reasons of events that explain a missing start, the most telling first. */
const tellingEvents = ['FailedCreate', 'FailedMount', 'FailedAttachVolume', 'FailedScheduling'];

/**
 * Says why a Job has not started; undefined when it has, or need not: it is suspended, decided or over. The wait between two attempts is
 * no missing start. Kubernetes ends such a Job by itself only when it has a deadline.
 */
export function findNotStarted(
  job: JobFacts,
  pods: readonly PodFacts[],
  events: readonly StartEvent[] = [],
): NotStarted | undefined {
  if (job.outcome || job.decidedAs || job.suspended) return undefined;
  if (job.failedPods + job.succeededPods + job.readyPods > 0) return undefined;
  if (pods.some((pod) => pod.containers.some(hasRun))) return undefined;
  return waitOf(pods) ?? eventOf(events) ?? { reason: undefined, message: undefined };
}

function waitOf(pods: readonly PodFacts[]): NotStarted | undefined {
  const newestFirst = [...pods].sort((a, b) => b.createdAt - a.createdAt);
  for (const pod of newestFirst) {
    const waiting = pod.containers.find((container) => isTellingWait(container));
    if (waiting) return { reason: waiting.waiting, message: waiting.waitingMessage };
    if (pod.unscheduled !== undefined) return { reason: pod.unscheduled, message: pod.message };
  }
  return undefined;
}

function eventOf(events: readonly StartEvent[]): NotStarted | undefined {
  for (const reason of tellingEvents) {
    const event = events.find((candidate) => candidate.reason === reason);
    if (event) return { reason, message: event.message };
  }
  return undefined;
}
