import {
  findNotStarted,
  hopelessWaitOf,
  refusedCreate,
  originOf,
  type CreateRefusal,
  type Instant,
  type JobFacts,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import type { ActiveJob } from '@cronjob-monitor/shared/store';

/** What is known of a Job that has not ended. */
export interface RunningFacts {
  readonly job: JobFacts;
  readonly pods: readonly PodFacts[];
  readonly refusal?: CreateRefusal | undefined;
}

/** A row, and when it has to be written anew although nothing happens: a wait may prove hopeless by time alone. */
export interface ActiveJobRow {
  readonly row: ActiveJob;
  readonly againAt: Instant | undefined;
}

/** The row of a Job that has not ended, with the pod that shows best how it fares: the newest. */
export function toActiveJob({ job, pods, refusal }: RunningFacts, now: Instant): ActiveJobRow {
  const newest = pods.reduce<PodFacts | undefined>((a, b) => (a && a.createdAt >= b.createdAt ? a : b), undefined);
  const regular = newest?.containers.filter((container) => !container.init) ?? [];
  const hopeless = hopelessWaitOf(job, pods, refusal);
  const events = refusal ? [{ reason: refusedCreate, message: refusal.message }] : [];
  const wait = hopeless ?? findNotStarted(job, pods, events);
  const row = {
    jobUid: job.uid,
    cronJobUid: job.cronJobUid,
    jobName: job.name,
    ...originOf(job, []),
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    podName: newest?.name,
    podPhase: newest?.phase,
    ready: newest && `${regular.filter((container) => container.ready).length}/${regular.length}`,
    finishing: job.decidedAt !== undefined,
    waitingReason: wait?.reason,
    waitingMessage: wait?.reason === undefined ? undefined : wait.message,
    hopelessSinceAt: hopeless && now >= hopeless.fromAt ? hopeless.sinceAt : undefined,
  } as const;
  return { row, againAt: hopeless && now < hopeless.fromAt ? hopeless.fromAt : undefined };
}

/** True when nothing that is shown differs. */
export function sameActiveJob(a: ActiveJob | undefined, b: ActiveJob): boolean {
  return (
    a !== undefined &&
    a.startedAt === b.startedAt &&
    a.podName === b.podName &&
    a.podPhase === b.podPhase &&
    a.ready === b.ready &&
    a.finishing === b.finishing &&
    a.waitingReason === b.waitingReason &&
    a.waitingMessage === b.waitingMessage &&
    a.hopelessSinceAt === b.hopelessSinceAt
  );
}
