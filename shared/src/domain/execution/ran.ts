import type { ContainerFacts, Termination } from './pod.ts';

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
