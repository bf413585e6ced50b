import { systemClock } from '@cronjob-monitor/shared/process';
import type { KubeObject, SimCluster } from '@cronjob-monitor/simcluster';
import { jobSpec, type JobShape } from '../../cluster/kube-objects.ts';
import { namespace } from './bench.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A CronJob that never comes by itself, since its schedule names New Year: its Jobs are made by the test. */
export function putCronJob(
  sim: SimCluster,
  name: string,
  shape: JobShape & { readonly cron?: Fields; readonly annotations?: Readonly<Record<string, string>> } = {},
): KubeObject {
  const { cron = {}, annotations, ...job } = shape;
  return sim.objects.put({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace, ...(annotations && { annotations }) },
    spec: { schedule: '0 0 1 1 *', ...cron, jobTemplate: { spec: jobSpec(job) } },
  });
}

/** Instants of slots: full minutes, the `number`-th before midnight of a day that is over. */
export function slotNumber(number: number): number {
  return Date.UTC(2026, 0, 2) - number * 60_000;
}

/** The name that the CronJob controller gives to the Job of a slot. */
export function nameOfSlot(owner: KubeObject, slotAt: number): string {
  return `${owner.metadata.name}-${slotAt / 60_000}`;
}

interface JobOfTest extends JobShape {
  /** Absent: the name that its slot gives it. */
  readonly name?: string;
  /** With it the Job is as the CronJob controller makes it for that slot. */
  readonly slotAt?: number;
  readonly status?: Fields;
  readonly metadata?: Fields;
}

/** A Job of a CronJob. With a status it is as it stands; without, the cluster's controllers take it up if there are any. */
export function putJob(sim: SimCluster, owner: KubeObject, job: JobOfTest): KubeObject {
  const { slotAt, status, metadata, ...shape } = job;
  const name = job.name ?? nameOfSlot(owner, slotAt ?? 0);
  const annotations =
    slotAt === undefined ? {} : { 'batch.kubernetes.io/cronjob-scheduled-timestamp': timeText(slotAt) };
  return sim.objects.put({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, annotations, ownerReferences: [ownedBy(owner)], ...metadata },
    spec: jobSpec(shape),
    ...(status && { status }),
  });
}

/** A pod of a Job, as its kubelet tells it; told again it is the same pod. */
export function putPod(
  sim: SimCluster,
  job: KubeObject,
  pod: { readonly name: string; readonly status: Fields; readonly metadata?: Fields; readonly spec?: Fields },
): KubeObject {
  const { name, status, metadata, spec } = pod;
  return sim.objects.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { 'job-name': job.metadata.name, 'batch.kubernetes.io/job-name': job.metadata.name },
      ownerReferences: [ownedBy(job)],
      ...metadata,
    },
    spec: {
      nodeName: 'node-1',
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'busybox:1' }],
      ...spec,
    },
    status,
  });
}

export function removeJob(sim: SimCluster, name: string): void {
  if (!sim.objects.remove({ apiVersion: 'batch/v1', kind: 'Job', namespace, name }))
    throw new Error(`there is no Job ${name}`);
}

/**
 * Some news of a CronJob and of a Job all the time, as on any cluster at work: what did not come is known up to the last of both. Ends
 * with the signal.
 */
export function keepTalking(sim: SimCluster, signal: AbortSignal): void {
  const owner = putCronJob(sim, 'pulse', { cron: { suspend: true } });
  const job = putJob(sim, owner, { name: 'pulse-1', spec: { suspend: true } });
  let beats = 0;
  systemClock.every(
    500,
    () => {
      beats++;
      for (const { apiVersion, kind, metadata } of [owner, job]) {
        const { name } = metadata;
        sim.objects.update({ apiVersion, kind, name, namespace }, (object) => ({
          ...object,
          metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, beat: String(beats) } },
        }));
      }
    },
    signal,
  );
}

/** Gives a Job its status, also while others write to it. */
export function setJobStatus(sim: SimCluster, name: string, status: Fields): void {
  sim.objects.update({ apiVersion: 'batch/v1', kind: 'Job', namespace, name }, (job) => ({ ...job, status }));
}

/** The status of a Job that goes on. */
export function runningStatus(startedAt = Date.now()): Fields {
  return { startTime: timeText(startedAt), active: 1, ready: 1 };
}

export function completeStatus(endedAt = Date.now(), startedAt = endedAt - 1_000): Fields {
  const condition = (type: string): Fields => ({
    type,
    status: 'True',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
    lastTransitionTime: timeText(endedAt),
  });
  return {
    startTime: timeText(startedAt),
    completionTime: timeText(endedAt),
    succeeded: 1,
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
}

export function failedStatus(
  endedAt = Date.now(),
  startedAt = endedAt - 1_000,
  reason = 'BackoffLimitExceeded',
): Fields {
  const condition = (type: string): Fields => ({
    type,
    status: 'True',
    reason,
    message: 'Job has reached the specified backoff limit',
    lastTransitionTime: timeText(endedAt),
  });
  return {
    startTime: timeText(startedAt),
    failed: 1,
    conditions: [condition('FailureTarget'), condition('Failed')],
  };
}

/** A pod whose only container has ended. */
export function endedPodStatus(exitCode: number, endedAt = Date.now()): Fields {
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: timeText(endedAt - 1_000),
    finishedAt: timeText(endedAt),
  };
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    startTime: timeText(endedAt - 1_000),
    containerStatuses: [
      { name: 'main', ready: false, restartCount: 0, image: 'busybox:1', imageID: 'busybox@1', state: { terminated } },
    ],
  };
}

/** As Kubernetes writes instants: whole seconds. */
export function timeText(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: KubeObject): Fields {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
