import { secondMs, type RunStory } from './history.ts';
import type { Run } from './kubernetes.ts';
import { iso, jobSpec, podUid, reasonOf } from './object-parts.ts';
import type { Given } from './world.ts';

/** What a Job has from what made it. */
export interface JobMaker {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ttlSeconds: number | undefined;
  /** Undefined: nothing owns it. */
  readonly cronJob: { readonly name: string; readonly uid: string } | undefined;
  /** Its containers say how many rows they wrote. */
  readonly tellsRows: boolean;
}

export interface PlayedRun {
  readonly run: Run;
  readonly story: RunStory;
}

/** The Job of a run as it is at an instant. */
export function jobAt(
  at: number,
  { run, story }: PlayedRun,
  { namespace, labels, ttlSeconds, cronJob }: JobMaker,
): Given {
  const aheadMs = (story.aheadSeconds ?? 0) * secondMs;
  const startTime = iso(run.createdAt + aheadMs);
  const ended = run.endedAt === undefined ? undefined : iso(run.endedAt + aheadMs);
  const isDecided = run.decidedAt !== undefined && at >= run.decidedAt;
  const writtenAt = run.endedAt ?? (isDecided ? run.decidedAt : undefined) ?? run.createdAt;
  const write = { time: iso(writtenAt), subresource: 'status', fieldsV1: { 'f:status': {} } };
  const deciding = story.fate === 'success' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const decided = run.decidedAt !== undefined && at >= run.decidedAt ? iso(run.decidedAt + aheadMs) : undefined;
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True',
    reason,
    message: '',
    lastTransitionTime: type === deciding ? (decided ?? ended) : ended,
  });
  const reason = story.fate === 'success' ? 'CompletionsReached' : reasonOf(story);
  const status =
    ended === undefined
      ? {
          startTime,
          active: 1,
          ready: isWaiting({ run, story }, at) ? 0 : 1,
          ...(decided !== undefined && { conditions: [condition(deciding, reason)] }),
        }
      : story.fate === 'success'
        ? {
            startTime,
            completionTime: ended,
            succeeded: 1,
            conditions: [condition(deciding, reason), condition('Complete', reason)],
          }
        : {
            startTime,
            failed: 1,
            conditions: [condition(deciding, reason), condition('Failed', reason)],
          };
  return {
    metadata: {
      uid: run.jobUid,
      namespace,
      name: run.jobName,
      creationTimestamp: iso(run.createdAt),
      managedFields: [write],
      labels,
      ...(cronJob && {
        annotations:
          story.isManual === true
            ? { 'cronjob.kubernetes.io/instantiate': 'manual' }
            : { 'batch.kubernetes.io/cronjob-scheduled-timestamp': iso(run.slotAt) },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', ...cronJob, controller: true }],
      }),
    },
    spec: jobSpec(ttlSeconds),
    status,
  };
}

/** The one pod of a run as it is at an instant. */
export function podAt(at: number, { run, story }: PlayedRun, { namespace, tellsRows }: JobMaker): Given {
  const { endedAt } = run;
  const isOver = endedAt !== undefined;
  const exitCode = story.fate === 'success' ? 0 : story.fate === 'outOfMemory' ? 137 : story.exitCode;
  const reason = story.fate === 'success' ? 'Completed' : story.fate === 'outOfMemory' ? 'OOMKilled' : 'Error';
  const startedAt = iso(run.createdAt + (story.waitSeconds ?? 0) * secondMs);
  const waits = isWaiting({ run, story }, at);
  const message = `::cronjob-monitor rows=${story.rows ?? 5}`;
  const state = isOver
    ? { terminated: { exitCode, reason, startedAt, finishedAt: iso(endedAt), ...(tellsRows && { message }) } }
    : waits
      ? { waiting: { reason: 'ContainerCreating' } }
      : { running: { startedAt } };
  return {
    metadata: {
      uid: podUid(run),
      namespace,
      name: podNameOf(run),
      creationTimestamp: iso(run.createdAt),
      labels: { 'job-name': run.jobName },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: run.jobName, uid: run.jobUid, controller: true }],
    },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'job:1' }] },
    status: {
      phase: isOver ? (exitCode === 0 ? 'Succeeded' : 'Failed') : waits ? 'Pending' : 'Running',
      startTime: iso(run.createdAt),
      containerStatuses: [{ name: 'main', ready: !isOver && !waits, restartCount: 0, image: 'job:1', state }],
    },
  };
}

export function podNameOf({ jobName }: Pick<Run, 'jobName'>): string {
  return `${jobName}-pod`;
}

/** Its container has not started yet. */
function isWaiting({ run, story }: PlayedRun, at: number): boolean {
  return at < run.createdAt + (story.waitSeconds ?? 0) * secondMs;
}
