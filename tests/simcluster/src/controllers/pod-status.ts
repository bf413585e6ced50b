import type { ContainerState, ContainerStatus, Pod, PodStatus, TerminatedState } from './batch-objects.ts';

const nodeAddress = '127.0.0.1';
const podAddress = '10.244.0.1';

/** Condition of a pod, all changed at the same time. */
function conditions(ready: boolean, time: string): NonNullable<PodStatus['conditions']> {
  const of = (
    type: string,
    status: string,
  ): { type: string; status: string; lastProbeTime: null; lastTransitionTime: string } => ({
    type,
    status,
    lastProbeTime: null,
    lastTransitionTime: time,
  });
  return [of('Initialized', 'True'), of('Ready', ready ? 'True' : 'False'), of('PodScheduled', 'True')];
}

/** The status of a pod whose containers are all in `state`. */
export function statusWith(
  pod: Pod,
  parts: { phase: PodStatus['phase']; ready: boolean; time: string; state: ContainerState },
): PodStatus {
  const { qosClass } = pod.status;
  return {
    phase: parts.phase,
    conditions: conditions(parts.ready, parts.time),
    hostIP: nodeAddress,
    podIP: podAddress,
    podIPs: [{ ip: podAddress }],
    startTime: pod.status.startTime ?? parts.time,
    containerStatuses: pod.spec.containers.map((container) => statusOfContainer(pod, container, parts)),
    ...(qosClass === undefined ? {} : { qosClass }),
  };
}

function statusOfContainer(
  pod: Pod,
  container: { name: string; image?: string },
  { state, ready }: { state: ContainerState; ready: boolean },
): ContainerStatus {
  const before = pod.status.containerStatuses?.find((status) => status.name === container.name);
  return {
    name: container.name,
    state,
    lastState: before?.lastState ?? {},
    ready,
    restartCount: before?.restartCount ?? 0,
    image: container.image ?? '',
    imageID: '',
    started: ready,
  };
}

/** The status of a pod that its node put out. Its containers are as they were. */
export function evictedStatus(pod: Pod, time: string): PodStatus {
  return {
    ...pod.status,
    phase: 'Failed',
    conditions: conditions(false, time),
    message: 'The node was low on resource: memory.',
    reason: 'Evicted',
  };
}

/** The status of a pod whose containers ended and will be started again. */
export function crashedStatus(pod: Pod, time: string, ended: ContainerState, waiting: ContainerState): PodStatus {
  return {
    ...pod.status,
    conditions: conditions(false, time),
    containerStatuses: (pod.status.containerStatuses ?? []).map((status) => ({
      ...status,
      state: waiting,
      lastState: ended,
      ready: false,
      started: false,
    })),
  };
}

/** The status of a pod whose containers were started once more. */
export function restartedStatus(pod: Pod, time: string): PodStatus {
  return {
    ...pod.status,
    phase: 'Running',
    conditions: conditions(true, time),
    containerStatuses: (pod.status.containerStatuses ?? []).map((status) => ({
      ...status,
      state: { running: { startedAt: time } },
      ready: true,
      started: true,
      restartCount: status.restartCount + 1,
    })),
  };
}

/** The status of a pod that was told to go: its containers ended by the signal, or never ran. */
export function signalledStatus(pod: Pod, time: string): PodStatus {
  return {
    ...pod.status,
    phase: 'Failed',
    conditions: conditions(false, time),
    containerStatuses: (pod.status.containerStatuses ?? []).map((status) => ({
      ...status,
      state: { terminated: endBySignal(status, time) },
      ready: false,
      started: false,
    })),
  };
}

function endBySignal({ state, lastState }: ContainerStatus, time: string): TerminatedState {
  const containerID = 'containerd://0';
  if (state.terminated !== undefined) return state.terminated;
  if (state.running !== undefined) {
    return { exitCode: 143, reason: 'Error', startedAt: state.running.startedAt, finishedAt: time, containerID };
  }
  return (
    lastState.terminated ?? {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container could not be located when the pod was terminated',
      startedAt: null,
      finishedAt: null,
    }
  );
}
