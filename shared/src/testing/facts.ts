import {
  groupUidOf,
  toGroupFacts,
  type ContainerFacts,
  type CronJobFacts,
  type JobFacts,
  type JobMarks,
  type PodFacts,
  type Termination,
} from '../domain/index.ts';

/** A full minute of a Saturday: the slot that the facts made here speak of. */
export const slotAt = Date.UTC(2026, 10, 21, 7, 53);

/** A running Job of CronJob `report`, made for `slotAt`; its name and UID follow a changed slot. */
export function aJob(changes: Partial<JobFacts> = {}): JobFacts {
  const minute = Math.floor((changes.slotAt ?? slotAt) / 60_000);
  return {
    uid: `job-${minute}`,
    namespace: 'prod',
    name: `report-${minute}`,
    cronJobUid: 'cronjob-1',
    cronJobName: 'report',
    createdAt: changes.slotAt ?? slotAt,
    startedAt: changes.slotAt ?? slotAt,
    endedAt: undefined,
    outcome: undefined,
    jobReason: undefined,
    jobMessage: undefined,
    decidedAt: undefined,
    decidedAs: undefined,
    suspended: false,
    deletingAt: undefined,
    slotAt,
    manual: false,
    triggeredBy: undefined,
    isRetry: false,
    retryOf: undefined,
    indexed: false,
    activePods: 1,
    readyPods: 0,
    succeededPods: 0,
    failedPods: 0,
    failedIndexes: undefined,
    templateHash: 'template-1',
    ...changes,
  };
}

/** A Job that failed a minute after its slot, by BackoffLimitExceeded. */
export function aFailedJob(changes: Partial<JobFacts> = {}): JobFacts {
  const failed = {
    outcome: 'failed' as const,
    endedAt: slotAt + 60_000,
    jobReason: 'BackoffLimitExceeded',
    activePods: 0,
    failedPods: 1,
  };
  return aJob({ ...failed, ...changes });
}

/** A running pod of `aJob()` with one container named `main`. */
export function aPod(changes: Partial<PodFacts> = {}): PodFacts {
  const name = changes.name ?? 'report-29920793-x7k2p';
  return {
    uid: `pod-${name}`,
    namespace: 'prod',
    name,
    jobUid: 'job-29920793',
    node: 'node-1',
    phase: 'Running',
    reason: undefined,
    message: undefined,
    createdAt: slotAt,
    startedAt: slotAt,
    deletingAt: undefined,
    disruption: undefined,
    unscheduled: undefined,
    index: undefined,
    containers: [aContainer()],
    ...changes,
  };
}

/** A running container named `main`; with `terminated` it has ended, with `waiting` it waits. */
export function aContainer(changes: Partial<ContainerFacts> = {}): ContainerFacts {
  return {
    name: 'main',
    init: false,
    sidecar: false,
    state: changes.terminated ? 'terminated' : changes.waiting === undefined ? 'running' : 'waiting',
    waiting: undefined,
    waitingMessage: undefined,
    terminated: undefined,
    lastTerminated: undefined,
    startedAt: slotAt,
    ready: false,
    restarts: 0,
    image: 'backup:1.8',
    imageId: 'backup@sha256:1',
    ...changes,
  };
}

/** The end of a container, `afterS` seconds after the slot; its reason is Error, or Completed for exit code 0. */
export function anEnd(exitCode: number, reason?: string, afterS = 10): Termination {
  return {
    exitCode,
    signal: undefined,
    reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    message: undefined,
    startedAt: slotAt,
    finishedAt: slotAt + afterS * 1000,
  };
}

/** CronJob `report`, every minute. */
export function aCronJob(changes: Partial<CronJobFacts> = {}): CronJobFacts {
  return {
    uid: 'cronjob-1',
    namespace: 'prod',
    name: 'report',
    labels: {},
    notes: {},
    schedule: '* * * * *',
    timeZone: undefined,
    suspended: false,
    policy: 'Allow',
    deadlineS: undefined,
    successLimit: 3,
    failureLimit: 1,
    generation: 1,
    createdAt: slotAt - 24 * 3600 * 1000,
    deletingAt: undefined,
    lastScheduleAt: slotAt,
    lastSuccessAt: undefined,
    activeJobUids: [],
    activeDeadlineS: undefined,
    ttlAfterFinishedS: undefined,
    backoffLimit: undefined,
    restartPolicy: 'Never',
    specWrites: [],
    templateHash: 'template-1',
    templateWrittenAt: changes.createdAt ?? slotAt - 24 * 3600 * 1000,
    ...changes,
  };
}

/** A group of Jobs in `prod`, named `~migrate` unless told otherwise. */
export function aGroupOfJobs(
  name = '~migrate',
  marks: Partial<JobMarks> = {},
  createdAt = aCronJob().createdAt,
): CronJobFacts {
  return toGroupFacts({
    uid: groupUidOf('prod', name),
    namespace: 'prod',
    name,
    marks: { labels: { app: 'shop' }, annotations: ['helm.sh/hook'], notes: {}, ownerKind: undefined, ...marks },
    templateHash: 'template-1',
    createdAt,
  });
}
