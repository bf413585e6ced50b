import { findExitCause, type JobFacts, type PodFacts } from '@cronjob-monitor/shared/domain';

/** The evidence to store of a run: what the monitors that select its CronJob ask for together. */
export interface EvidenceWishes {
  /** Logs and events are kept with the run. */
  readonly logs: boolean;
  readonly events: boolean;
  /** Failures are to be explained: their logs and events are read, also where they are not stored. */
  readonly explain: boolean;
  readonly maxLogBytes: number;
  /** Container to take logs from; undefined: the one that failed, else the first regular one. */
  readonly container: string | undefined;
  readonly initContainers: boolean;
}

export interface WantedLog {
  readonly pod: PodFacts;
  readonly container: string;
  /** The instance before the last restart: the one that failed. */
  readonly previous: boolean;
}

/**
 * The logs of a Job's pods that can be read now and tell how an attempt went: of each pod that has ended, has failed, or is about to be
 * deleted, the chosen container and, if asked, its init containers; the newest `maxAttempts` pods.
 */
export function logsWorthReading(
  job: JobFacts,
  pods: readonly PodFacts[],
  wishes: EvidenceWishes,
  maxAttempts: number,
): WantedLog[] {
  // The log of a success is read only where it is to be stored.
  const telling = pods.filter((pod) => isTelling(pod, job) && (wishes.logs || pod.phase !== 'Succeeded'));
  return newestOf(telling, maxAttempts).flatMap((pod) => logsOf(pod, job, wishes));
}

/** Logs that may tell why a Job does not end: of each container of its newest pods that has ever run. */
export function logsOfStuck(pods: readonly PodFacts[], maxAttempts: number): WantedLog[] {
  return newestOf(pods, maxAttempts).flatMap((pod) =>
    pod.containers
      .filter(({ state, lastTerminated }) => state === 'running' || state === 'terminated' || lastTerminated)
      .map(({ name, terminated, lastTerminated, state }) => ({
        pod,
        container: name,
        previous: state !== 'running' && !terminated && lastTerminated !== undefined,
      })),
  );
}

function newestOf(pods: readonly PodFacts[], most: number): PodFacts[] {
  return [...pods].sort((a, b) => b.createdAt - a.createdAt).slice(0, most);
}

function isTelling(pod: PodFacts, job: JobFacts): boolean {
  const hasEnded = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  const isGoing = pod.deletingAt !== undefined || job.decidedAt !== undefined || job.outcome !== undefined;
  return (
    hasEnded ||
    isGoing ||
    pod.containers.some(({ terminated, lastTerminated }) => (terminated ?? lastTerminated)?.exitCode)
  );
}

function logsOf(pod: PodFacts, job: JobFacts, wishes: EvidenceWishes): WantedLog[] {
  const regular = pod.containers.filter((container) => !container.init);
  const failed = findExitCause(job, [pod])?.container;
  const chosen =
    pod.containers.find(({ name }) => name === wishes.container) ??
    pod.containers.find(({ name }) => name === failed) ??
    regular[0];
  const names = new Set(chosen ? [chosen.name] : []);
  if (wishes.initContainers) for (const container of pod.containers) if (container.init) names.add(container.name);
  return pod.containers
    .filter(({ name }) => names.has(name))
    .map((container) => ({
      pod,
      container: container.name,
      previous: !container.terminated && container.lastTerminated !== undefined,
    }));
}
