import type { ContainerFacts, Instant, PodFacts } from '@cronjob-monitor/shared/domain';

/** What the pods of a Job were like, also when they are gone: the Job's end is often seen after its pods went. */
export interface PodMemory {
  /** A pod as it is now. Returns true when this is news for its run: a first failure, an end, a start. */
  observe(pod: PodFacts): boolean;
  /** The pod is gone; what it was like last is kept until its run is recorded, or until it is too old. */
  lost(pod: PodFacts, at: Instant): void;
  /** All pods of the Job that are remembered; one that was taken away as it was before that, if it told something then. */
  podsOf(jobUid: string): PodFacts[];
  /** The run is recorded: pods that are gone need not be kept. */
  forget(jobUid: string): void;
  /** Drops pods that are gone since before `before`, except those of Jobs whose end waits to be recorded. */
  forgetLost(before: Instant, isAwaited: (jobUid: string) => boolean): void;
}

/** Finds live pods; the reflector's cache. */
interface LivePods {
  listBy(index: 'job', jobUid: string): PodFacts[];
}

interface Lost {
  readonly pod: PodFacts;
  readonly at: Instant;
}

/** Beyond so many gone pods the oldest are forgotten: their runs then lack an exit code, and nothing else. */
const mostLost = 20_000;

export function createPodMemory(live: LivePods): PodMemory {
  const lostByJob = new Map<string, Map<string, Lost>>();
  /** A pod as it was before its deletion, if it had failed or could not start. By pod UID. */
  const untouched = new Map<string, PodFacts>();
  let lostCount = 0;

  const drop = (jobUid: string): void => {
    for (const uid of lostByJob.get(jobUid)?.keys() ?? []) untouched.delete(uid);
    lostCount -= lostByJob.get(jobUid)?.size ?? 0;
    lostByJob.delete(jobUid);
  };

  /** Deleting a pod kills its containers; how they end then says nothing of why it failed before. */
  const asItWas = (pod: PodFacts): PodFacts => {
    const before = untouched.get(pod.uid);
    if (before === undefined) return pod;
    return pod.deletingAt === undefined ? withWaits(pod, before) : before;
  };

  return {
    observe(pod) {
      if (pod.deletingAt !== undefined) return false;
      const before = untouched.get(pod.uid);
      const seen = asItWas(pod);
      const failed = hasFailed(seen);
      if (failed || onlyWaits(seen)) untouched.set(pod.uid, seen);
      else untouched.delete(pod.uid);
      return failed && !(before && hasFailed(before));
    },
    lost(pod, at) {
      let pods = lostByJob.get(pod.jobUid);
      if (!pods) lostByJob.set(pod.jobUid, (pods = new Map()));
      if (!pods.has(pod.uid)) lostCount++;
      pods.set(pod.uid, { pod: asItWas(pod), at });
      for (const oldest of lostByJob.keys()) {
        if (lostCount <= mostLost) break;
        drop(oldest);
      }
    },
    podsOf(jobUid) {
      const pods = new Map(live.listBy('job', jobUid).map((pod) => [pod.uid, asItWas(pod)]));
      for (const [uid, { pod }] of lostByJob.get(jobUid) ?? []) if (!pods.has(uid)) pods.set(uid, pod);
      return [...pods.values()];
    },
    forget(jobUid) {
      for (const pod of live.listBy('job', jobUid)) untouched.delete(pod.uid);
      drop(jobUid);
    },
    forgetLost(before, isAwaited) {
      for (const [jobUid, pods] of lostByJob) {
        if (!isAwaited(jobUid) && [...pods.values()].every((lost) => lost.at < before)) drop(jobUid);
      }
    },
  };
}

/**
 * The kubelet gives a container that never started an end when its pod ends, by a deadline or an eviction: 137 by ContainerStatusUnknown
 * (kubernetes/pkg/kubelet/status). In its place comes what the container waited for. Of an image that it will pull again
 * an older kubelet says no more than that (pkg/kubelet/images): why it did not come was said a moment before, and stays.
 */
function withWaits(pod: PodFacts, before: PodFacts): PodFacts {
  const waited = new Map(before.containers.filter(neverStarted).map((container) => [container.name, container]));
  if (waited.size === 0) return pod;
  const containers = pod.containers.map((container) => {
    const earlier = waited.get(container.name);
    if (earlier === undefined) return container;
    if (container.terminated?.reason === 'ContainerStatusUnknown') return earlier;
    const { waitingMessage } = earlier;
    return saysNoCause(container) && pulls.has(earlier.waiting ?? '') && waitingMessage !== undefined
      ? { ...container, waitingMessage }
      : container;
  });
  return { ...pod, containers };
}

const pulls = new Set(['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable']);
const bareBackOff = /^Back-off pulling image "[^"]*"$/;

function saysNoCause({ waiting, waitingMessage }: ContainerFacts): boolean {
  return waiting === 'ImagePullBackOff' && (waitingMessage === undefined || bareBackOff.test(waitingMessage));
}

function neverStarted({ waiting, lastTerminated, restarts }: ContainerFacts): boolean {
  return waiting !== undefined && lastTerminated === undefined && restarts === 0;
}

/** Nothing in the pod runs that a deletion could kill, and a container waits for its start. */
function onlyWaits({ containers }: PodFacts): boolean {
  return (
    containers.some(({ init, waiting }) => !init && waiting !== undefined) &&
    containers.every(
      ({ waiting, terminated, sidecar }) => waiting !== undefined || terminated?.exitCode === 0 || sidecar,
    )
  );
}

/** True once a container of the pod has ended with an error, in its present or its previous instance. */
function hasFailed(pod: PodFacts): boolean {
  return (
    pod.phase === 'Failed' ||
    pod.containers.some(
      ({ terminated, lastTerminated }) => (terminated?.exitCode ?? lastTerminated?.exitCode ?? 0) !== 0,
    )
  );
}
