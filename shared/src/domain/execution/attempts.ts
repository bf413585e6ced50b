import type { Instant } from '../instant.ts';
import type { JobFacts } from '../objects/job.ts';
import type { ContainerFacts, PodFacts, Termination } from '../objects/pod.ts';

/** One pod of a Job as it is kept with the execution. */
export interface Attempt {
  readonly pod: string;
  readonly node: string | undefined;
  readonly phase: string;
  /** Why the pod failed or was taken away, such as Evicted. */
  readonly reason: string | undefined;
  readonly index: number | undefined;
  readonly startedAt: Instant | undefined;
  readonly endedAt: Instant | undefined;
  readonly containers: readonly AttemptContainer[];
}

interface AttemptContainer {
  readonly name: string;
  readonly init: boolean;
  /** Of its last end, that before a restart included; undefined: it has not ended. */
  readonly exitCode: number | undefined;
  /** Of that end, else what it waits for. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly restarts: number;
  readonly imageId: string | undefined;
}

/** When the pod's last container ended, else when it was deleted; undefined while it runs. */
export function podEndedAt(pod: PodFacts): Instant | undefined {
  let endedAt: Instant | undefined;
  for (const { terminated } of pod.containers) {
    const finishedAt = terminated?.finishedAt;
    if (finishedAt !== undefined && (endedAt === undefined || finishedAt > endedAt)) endedAt = finishedAt;
  }
  return endedAt ?? pod.deletingAt;
}

/**
 * How often the Job has tried: its pods and the restarts within each. The pods are those we saw or those it counted, whichever is more: pods
 * may be gone before we look, and a pod that a suspension deleted is never counted by the Job.
 */
export function countAttempts(
  job: Pick<JobFacts, 'succeededPods' | 'failedPods'>,
  pods: readonly Pick<PodFacts, 'uid' | 'containers'>[],
): number {
  const restarts = new Map(pods.map((pod) => [pod.uid, restartsOf(pod)]));
  const havePods = Math.max(restarts.size, job.succeededPods + job.failedPods);
  return restarts.values().reduce((sum, count) => sum + count, havePods);
}

/** Of the container that was started anew most often; a sidecar does so beside the work. */
function restartsOf({ containers }: Pick<PodFacts, 'containers'>): number {
  return Math.max(0, ...containers.flatMap(({ sidecar, restarts }) => (sidecar ? [] : [restarts])));
}

/** The pods as attempts, oldest first. */
export function toAttempts(pods: readonly PodFacts[]): Attempt[] {
  const inOrder = [...pods].sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
  return inOrder.map((pod) => ({
    pod: pod.name,
    node: pod.node,
    phase: pod.phase,
    reason: pod.reason ?? pod.disruption ?? pod.unscheduled,
    index: pod.index,
    startedAt: pod.startedAt,
    endedAt: podEndedAt(pod),
    containers: pod.containers.map((container) => {
      const end = container.terminated ?? container.lastTerminated;
      return {
        name: container.name,
        init: container.init,
        exitCode: end?.exitCode,
        reason: end?.reason ?? container.waiting,
        message: end?.message,
        restarts: container.restarts,
        imageId: container.imageId,
      };
    }),
  }));
}

/** Ends of containers whose process never ran. */
const neverRan = new Set(['StartError', 'ContainerCannotRun', 'ContainerStatusUnknown']);

/** Whether the process of the container runs or has run. */
export function hasRun({ state, terminated, lastTerminated }: ContainerFacts): boolean {
  return state === 'running' || ranOnce(terminated) || ranOnce(lastTerminated);
}

/** Whether it is the end of a process that ran; undefined is none. */
export function ranOnce(end: Termination | undefined): boolean {
  return end !== undefined && !neverRan.has(end.reason ?? '');
}

/**
 * When the first container of these pods ran; undefined: none has. `unknown`: one was restarted more than once, and its first start is not kept.
 */
export function firstRunAt(pods: readonly PodFacts[]): Instant | 'unknown' | undefined {
  let firstAt: Instant | undefined;
  for (const container of pods.flatMap(({ containers }) => containers)) {
    if (!hasRun(container)) continue;
    if (container.restarts > 1) return 'unknown';
    const starts = [startOf(container.lastTerminated), startOf(container.terminated), container.startedAt];
    const startedAt = starts.find((at) => at !== undefined);
    if (startedAt === undefined) return 'unknown';
    firstAt = Math.min(firstAt ?? startedAt, startedAt);
  }
  return firstAt;
}

function startOf(end: Termination | undefined): Instant | undefined {
  return ranOnce(end) ? end?.startedAt : undefined;
}
