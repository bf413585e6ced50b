import { timeText } from './objects.ts';

type Fields = Readonly<Record<string, unknown>>;

/** When everything about the pods of a table happens: instants are seconds after it. */
export const podsBegin = Date.UTC(2026, 0, 2, 3, 4);

function second(seconds: number): string {
  return timeText(podsBegin + seconds * 1000);
}

/** What `state` or `lastState` of a container says. */
export const state = {
  ended: (exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error', atSecond = 10): Fields => ({
    terminated: { exitCode, reason, startedAt: second(0), finishedAt: second(atSecond) },
  }),
  waits: (reason: string): Fields => ({ waiting: { reason, message: `it waits: ${reason}` } }),
  runs: (): Fields => ({ running: { startedAt: second(0) } }),
  /** What a kubelet says of a container that never ran in a pod that was taken away. */
  unknown: (): Fields => ({
    terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null },
  }),
};

interface ContainerOfTable {
  readonly name?: string;
  readonly state: Fields;
  readonly lastState?: Fields;
  readonly restartCount?: number;
}

export interface PodOfTable {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly reason?: string;
  readonly containers?: readonly ContainerOfTable[];
  readonly init?: readonly ContainerOfTable[];
  /** Names of init containers that are restarted for ever. */
  readonly sidecars?: readonly string[];
  readonly disruption?: string;
  readonly unscheduled?: string;
  readonly deletedAt?: number;
  readonly createdAt?: number;
  readonly index?: number;
}

/** The pod as the API server tells it: what goes into its metadata, spec and status. */
export function toRawPod(pod: PodOfTable): {
  readonly metadata: Fields;
  readonly spec: Fields;
  readonly status: Fields;
} {
  const { phase = 'Failed', reason, containers = [], init = [], sidecars = [], disruption, unscheduled } = pod;
  const conditions = [
    ...(disruption ? [condition('DisruptionTarget', 'True', disruption)] : []),
    ...(unscheduled ? [condition('PodScheduled', 'False', unscheduled)] : []),
  ];
  const index = pod.index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(pod.index) };
  return {
    metadata: {
      creationTimestamp: second(pod.createdAt ?? 0),
      annotations: index,
      ...(pod.deletedAt !== undefined && { deletionTimestamp: second(pod.deletedAt), deletionGracePeriodSeconds: 30 }),
    },
    spec: {
      nodeName: unscheduled ? undefined : 'node-1',
      restartPolicy: 'Never',
      containers: containers.map(({ name = 'main' }) => ({ name, image: 'busybox:1' })),
      initContainers: init.map(({ name = 'init' }) => ({
        name,
        image: 'busybox:1',
        ...(sidecars.includes(name) && { restartPolicy: 'Always' }),
      })),
    },
    status: {
      phase,
      reason,
      startTime: second(0),
      conditions,
      containerStatuses: containers.map((one) => toStatus({ name: 'main', ...one })),
      initContainerStatuses: init.map((one) => toStatus({ name: 'init', ...one })),
    },
  };
}

function toStatus({ name, state, lastState = {}, restartCount = 0 }: ContainerOfTable): Fields {
  return { name, state, lastState, restartCount, ready: false, image: 'busybox:1', imageID: 'busybox@1' };
}

function condition(type: string, status: string, reason: string): Fields {
  return { type, status, reason, message: `${type}: ${reason}`, lastTransitionTime: second(5) };
}
