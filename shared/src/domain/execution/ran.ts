import type { Instant } from '../instant.ts';
import type { ContainerFacts, PodFacts, Termination } from '../objects/pod.ts';

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
