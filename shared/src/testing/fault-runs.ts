import type { FailureCause } from '../contract/index.ts';
import type { JobFacts, PodFacts, StartEvent } from '../domain/index.ts';
import { aContainer, aFailedJob, aJob, anEnd, aPod } from './facts.ts';

/** What Kubernetes says of one run, and whose fault it was: texts as kubelet, scheduler, containerd, API server and registries write them. */
export interface Transcript {
  readonly says: string;
  /** Null: it cannot be told. */
  readonly truth: FailureCause | null;
  readonly scope: string | null;
  readonly job: JobFacts;
  readonly pods: readonly PodFacts[];
  readonly events: readonly StartEvent[];
}

export type Told = Pick<Transcript, 'job' | 'pods' | 'events'>;

export const image = 'registry.example.com/team/report:1.4';
export const node = 'node-3';

/** A container ended with a code. `pod`: what the pod says besides. */
export function ended(exitCode: number, reason = 'Error', pod: Partial<PodFacts> = {}, message?: string): Told {
  const container = aContainer({ image, state: 'terminated', terminated: { ...anEnd(exitCode, reason), message } });
  return { job: aFailedJob(), pods: [aPod({ node, phase: 'Failed', containers: [container], ...pod })], events: [] };
}

/** No container ran: it waits for something. */
export function waits(
  reason: string,
  message: string | undefined,
  of: { image?: string; events?: readonly StartEvent[] } = {},
): Told {
  const container = aContainer({
    image: of.image ?? image,
    waiting: reason,
    waitingMessage: message,
    startedAt: undefined,
  });
  return { job: aJob(), pods: [aPod({ node, phase: 'Pending', containers: [container] })], events: of.events ?? [] };
}

/** The same, and the deadline of the Job ended it. */
export function waitedOut(told: Told): Told {
  return { ...told, job: aFailedJob({ jobReason: 'DeadlineExceeded' }) };
}

export function pull(detail: string, from = image): Told {
  return waits('ErrImagePull', `failed to pull and unpack image "${from}": ${detail}`, { image: from });
}

/** As kubelets before 1.31 say it: what went wrong stands in an event alone. */
export function oldPull(detail: string): Told {
  const event = {
    reason: 'Failed',
    message: `Failed to pull image "${image}": rpc error: code = Unknown desc = ${detail}`,
  };
  return waits('ImagePullBackOff', `Back-off pulling image "${image}"`, { events: [event] });
}

/** The pod cannot be placed. */
export function unplaced(message: string): Told {
  const container = aContainer({ image, state: 'unknown', startedAt: undefined });
  const pod = aPod({
    node: undefined,
    phase: 'Pending',
    unscheduled: 'Unschedulable',
    message,
    containers: [container],
  });
  return { job: aJob(), pods: [pod], events: [] };
}

/** The pod is not created. */
export function refused(message: string): Told {
  return {
    job: aJob({ activePods: 0 }),
    pods: [],
    events: [{ reason: 'FailedCreate', message: `Error creating: ${message}` }],
  };
}

/** The pod was taken from its node before a container ended. */
export function taken(of: Partial<PodFacts>): Told {
  const container = aContainer({ image, state: 'unknown', startedAt: undefined });
  return { job: aFailedJob(), pods: [aPod({ node, phase: 'Failed', containers: [container], ...of })], events: [] };
}
