import {
  toExecution,
  type CronJobFacts,
  type Execution,
  type JobFacts,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import { createTranslator, type RawObject } from '@cronjob-monitor/shared/kube';
import {
  migrate,
  mostRunsAtOnce,
  openStore,
  projectCronJobs,
  recordRuns,
  takeEpoch,
  type Store,
} from '@cronjob-monitor/shared/store';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import type { SimCluster, VirtualClock } from '@cronjob-monitor/simcluster';
import { fleet } from './fleet.ts';
import { cronJobObject } from './objects.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Jobs pile up for so long before they are read and cleared away. */
const stepMs = 6 * hourMs;
const pileUp = 100_000;

/**
 * Weeks of a cluster's life in a few seconds: the simulated controllers run the fleet under virtual time, and every run that ended is
 * recorded as a service that watched would have. Afterwards the cluster looks as it would have looked by itself.
 */
export async function liveThroughHistory(
  cluster: SimCluster,
  clock: VirtualClock,
  databasePath: string,
  nowAt: number,
): Promise<number> {
  const log = createLogger({ level: 'warn', format: 'text', clock: systemClock });
  const store = openStore({ type: 'sqlite', path: databasePath }, { clock: systemClock, log });
  try {
    await migrate(store, { version: 'v0.0.0-demo' });
    const epoch = await takeEpoch(store, 'history');
    const waiting = [...fleet].sort((a, b) => b.historyDays - a.historyDays);
    const known = new Set<string>();
    let recorded = 0;
    while (clock.now() < nowAt) {
      while (waiting[0] && waiting[0].historyDays * dayMs >= nowAt - clock.now()) {
        const next = waiting.shift();
        if (next) cluster.objects.put(cronJobObject(next, pileUp));
      }
      const nextBirthAt = waiting[0] ? nowAt - waiting[0].historyDays * dayMs : nowAt;
      clock.advanceTo(Math.min(nowAt, clock.now() + stepMs, Math.max(nextBirthAt, clock.now() + 1)));
      recorded += await recordEnded(cluster, store, epoch, known);
    }
    for (const cronJob of fleet) settle(cluster, cronJob);
    return recorded;
  } finally {
    await store.close();
  }
}

/** Every run that ended until now gets its row; its Job goes, but for the newest few that Kubernetes would have kept. */
async function recordEnded(cluster: SimCluster, store: Store, epoch: number, known: Set<string>): Promise<number> {
  const translator = createTranslator();
  const cronJobs = list(cluster, 'CronJob')
    .map((raw) => translator.cronJob(raw))
    .filter((one) => one !== undefined);
  const unseen = cronJobs.filter((cronJob) => !known.has(cronJob.uid));
  for (const { uid } of unseen) known.add(uid);
  if (unseen.length > 0) await project(store, epoch, unseen);
  const jobs = list(cluster, 'Job')
    .map((raw) => translator.job(raw))
    .filter((job) => job !== undefined);
  const pods = Map.groupBy(
    list(cluster, 'Pod')
      .map((raw) => translator.pod(raw))
      .filter((pod) => pod !== undefined),
    (pod) => pod.jobUid,
  );
  const ended = jobs.filter((job) => job.outcome !== undefined && !known.has(job.uid));
  for (const { uid } of ended) known.add(uid);
  const executions = ended.map((job) => toRecord(job, pods.get(job.uid) ?? [])).filter((one) => one !== undefined);
  for (let from = 0; from < executions.length; from += mostRunsAtOnce) {
    await recordRuns(store, epoch, executions.slice(from, from + mostRunsAtOnce)); // each in a transaction of its own
  }
  for (const job of olderThanKept(jobs.filter((job) => job.outcome !== undefined))) {
    cluster.objects.remove({ apiVersion: 'batch/v1', kind: 'Job', namespace: job.namespace, name: job.name });
    for (const pod of pods.get(job.uid) ?? [])
      cluster.objects.remove({ apiVersion: 'v1', kind: 'Pod', namespace: pod.namespace, name: pod.name });
  }
  return executions.length;
}

async function project(store: Store, epoch: number, cronJobs: readonly CronJobFacts[]): Promise<void> {
  await store.fenced(epoch, (tx) =>
    projectCronJobs(
      tx,
      cronJobs.map((facts) => ({ facts, seenAt: facts.createdAt })),
    ),
  );
}

function toRecord(job: JobFacts, pods: readonly PodFacts[]): Execution | undefined {
  return toExecution(job, pods, { otherClaims: [], vanished: undefined, delayed: false, inMaintenance: false });
}

/** All but the newest three successes and the newest failure of each CronJob. */
function olderThanKept(ended: readonly JobFacts[]): JobFacts[] {
  return [...Map.groupBy(ended, (job) => `${job.cronJobUid} ${job.outcome}`).values()].flatMap((jobs) => {
    const newestFirst = jobs.toSorted((a, b) => b.createdAt - a.createdAt);
    return newestFirst.slice(jobs[0]?.outcome === 'success' ? 3 : 1);
  });
}

/** From now on it lives by the limits that its team would have set. */
function settle(cluster: SimCluster, cronJob: (typeof fleet)[number]): void {
  const lasting = cronJobObject(cronJob);
  cluster.objects.update(
    { apiVersion: 'batch/v1', kind: 'CronJob', namespace: cronJob.namespace, name: cronJob.name },
    (object) => ({
      ...object,
      spec: { ...(lasting['spec'] as object), ...(cronJob.suspend && { suspend: true }) },
    }),
  );
}

function list(cluster: SimCluster, kind: 'CronJob' | 'Job' | 'Pod'): RawObject[] {
  const apiVersion = kind === 'Pod' ? 'v1' : 'batch/v1';
  return cluster.objects.list({ apiVersion, kind }).map((object) => ({ ...object }));
}
