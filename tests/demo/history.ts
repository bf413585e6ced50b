import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  toExecution,
  type CronJobFacts,
  type Execution,
  type JobFacts,
  type PodFacts,
  hourMs,
  dayMs,
} from '@cronjob-monitor/shared/domain';
import { createTranslator, type RawObject } from '@cronjob-monitor/shared/kube';
import {
  getLeader,
  migrate,
  mostRunsAtOnce,
  openStore,
  projectCronJobs,
  recordRuns,
  type Store,
} from '@cronjob-monitor/shared/store';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import type { SimCluster, VirtualClock } from '@cronjob-monitor/simcluster';
import { fleet } from './fleet.ts';
import { cronJobObject, namespaceObjects, note } from './objects.ts';

/** Jobs pile up for so long before they are read and cleared away. */
const stepMs = 6 * hourMs;
const pileUp = 100_000;

/** A start uses what an earlier one kept for so long; the newest days are what a demonstration shows. */
const keptForMs = 7 * dayMs;

/** Where a start begins: at an instant of the past, with what an earlier start left there. */
interface Beginning {
  /** Milliseconds. */
  readonly at: number;
  /** CronJobs and unfinished Jobs of that instant; undefined: nothing has run yet. */
  readonly objects?: readonly RawObject[];
}

/** What an earlier start kept in the folder, when it is of the same fleet and younger than a week; else an empty cluster, weeks ago. */
export function beginningOf(folder: string, nowAt: number): Beginning {
  const longest = Math.max(...fleet.map(({ historyDays }) => historyDays));
  const empty = { at: nowAt - longest * dayMs };
  const { objects, database } = placesIn(folder);
  if (!existsSync(objects) || !existsSync(database)) return empty;
  const kept = JSON.parse(readFileSync(objects, 'utf8')) as Beginning & { readonly fleet: string };
  const isUsable = kept.fleet === fleetHash() && kept.at <= nowAt && kept.at >= nowAt - keptForMs;
  return isUsable ? kept : empty;
}

/**
 * A cluster's life from its beginning until now, in a few seconds: the simulated controllers run the fleet under virtual time, and every run
 * that ended is recorded as a service that watched would have. Afterwards the cluster looks as it would have looked by itself, the database
 * holds the runs, and the folder keeps both for the next start. Returns how many runs it recorded.
 */
export async function liveThroughHistory(
  { cluster, clock }: { readonly cluster: SimCluster; readonly clock: VirtualClock },
  { at, objects }: Beginning,
  { folder, databasePath, nowAt }: { readonly folder: string; readonly databasePath: string; readonly nowAt: number },
): Promise<number> {
  const log = createLogger({ level: 'warn', format: 'text', clock: systemClock });
  if (objects) copyFileSync(placesIn(folder).database, databasePath);
  for (const object of [...namespaceObjects(), ...(objects ?? [])]) cluster.objects.put(object);
  const store = openStore({ type: 'sqlite', path: databasePath }, { clock: systemClock, log });
  let recorded = 0;
  try {
    await migrate(store, { version: 'v0.0.0-demo' });
    // Without taking one: the service would wait for a sign of life of the process that did.
    const { epoch } = await getLeader(store);
    const waiting = objects ? [] : fleet.toSorted((a, b) => b.historyDays - a.historyDays);
    // What the first start wrote of the CronJobs stays: how they are by now is no sighting of their beginning.
    const known = new Set(objects && list(cluster, 'CronJob').map(uidOf));
    while (clock.now() < nowAt) {
      while (waiting[0] && waiting[0].historyDays * dayMs >= nowAt - clock.now()) {
        const next = waiting.shift();
        if (next) cluster.objects.put(cronJobObject(next, pileUp));
      }
      for (const one of fleet.filter(({ name }) => !waiting.some((other) => other.name === name)))
        suspendWhenDue(cluster, one, { at: clock.now(), nowAt });
      const nextBirthAt = waiting[0] ? nowAt - waiting[0].historyDays * dayMs : nowAt;
      clock.advanceTo(Math.min(nowAt, clock.now() + stepMs, Math.max(nextBirthAt, clock.now() + 1)));
      recorded += await recordEnded(cluster, store, epoch, known);
    }
  } finally {
    await store.close();
  }
  if (at < nowAt) keep(cluster, { folder, databasePath, nowAt });
  for (const cronJob of fleet) settle(cluster, cronJob);
  return recorded;
}

/**
 * Jobs that ended are in the database, but for the newest failures, which are kept as they are; those that run are made anew by the next start,
 * and take as long once more.
 */
function keep(cluster: SimCluster, kept: { folder: string; databasePath: string; nowAt: number }): void {
  const places = placesIn(kept.folder);
  rmSync(places.objects, { force: true });
  copyFileSync(kept.databasePath, places.database);
  const jobs = list(cluster, 'Job');
  const running = jobs.filter((job) => !hasEnded(job)).map(({ status: _, ...job }) => job);
  const translator = createTranslator();
  const left = newestFailures(jobs.map((raw) => translator.job(raw)).filter((job) => job !== undefined));
  const uids = new Set(left.map(({ uid }) => uid));
  const failed = [
    ...jobs.filter((raw) => uids.has(translator.job(raw)?.uid ?? '')),
    ...list(cluster, 'Pod')
      .filter((raw) => uids.has(translator.pod(raw)?.jobUid ?? ''))
      .map(sayingWhatFailed),
  ];
  const text = JSON.stringify({
    fleet: fleetHash(),
    at: kept.nowAt,
    objects: [...list(cluster, 'CronJob'), ...running, ...failed],
  });
  // In one step: a start that is ended in the middle leaves no half of it.
  writeFileSync(`${places.objects}.new`, text);
  renameSync(`${places.objects}.new`, places.objects);
}

/** The next start does not know which turn of its outcomes a pod was: what it says from then on is the log of its failure. */
function sayingWhatFailed(pod: RawObject): RawObject {
  const metadata = pod['metadata'] as { readonly annotations?: Readonly<Record<string, string>> };
  const { annotations = {} } = metadata;
  const log = annotations[`${note}log-of-failure`];
  return log === undefined
    ? pod
    : { ...pod, metadata: { ...metadata, annotations: { ...annotations, [`${note}log`]: log } } };
}

function hasEnded(job: RawObject): boolean {
  const { conditions = [] } = (job['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}

function placesIn(folder: string): { readonly objects: string; readonly database: string } {
  return { objects: `${folder}/demo-history.json`, database: `${folder}/demo-history.db` };
}

/** Of the fleet and of the schema that keeps its runs: a history of another one is made anew. */
function fleetHash(): string {
  const hash = createHash('sha256').update(JSON.stringify(fleet));
  for (const file of readdirSync(migrations).toSorted()) hash.update(readFileSync(join(migrations, file)));
  return hash.digest('hex');
}

const migrations = fileURLToPath(new URL('../../shared/src/store/migrations', import.meta.url));

/**
 * Every run that ended until now gets its row; its Job goes, but for the newest few that Kubernetes would have kept. The newest failure of each
 * CronJob is left to the service, which records it with its evidence: logs, events and the spec that it ran with.
 */
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
  const left = new Set(newestFailures(jobs));
  const ended = jobs.filter((job) => job.outcome !== undefined && !known.has(job.uid) && !left.has(job));
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

function newestFailures(jobs: readonly JobFacts[]): JobFacts[] {
  const failed = jobs.filter(({ outcome }) => outcome === 'failed');
  return [...Map.groupBy(failed, (job) => job.cronJobUid).values()].flatMap((of) =>
    of.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, 1),
  );
}

/** All but the newest three successes and the newest failure of each CronJob. */
function olderThanKept(ended: readonly JobFacts[]): JobFacts[] {
  return [...Map.groupBy(ended, (job) => `${job.cronJobUid} ${job.outcome}`).values()].flatMap((jobs) => {
    const newestFirst = jobs.toSorted((a, b) => b.createdAt - a.createdAt);
    return newestFirst.slice(jobs[0]?.outcome === 'success' ? 3 : 1);
  });
}

/** As a person does it, by hand; the cluster notes who and when. */
function suspendWhenDue(
  cluster: SimCluster,
  { namespace, name, suspendedDays }: (typeof fleet)[number],
  { at, nowAt }: { readonly at: number; readonly nowAt: number },
): void {
  if (suspendedDays === undefined || at < nowAt - suspendedDays * dayMs) return;
  const key = { apiVersion: 'batch/v1', kind: 'CronJob', namespace, name };
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  const write = {
    manager: 'kubectl-edit',
    operation: 'Update',
    apiVersion: 'batch/v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:suspend': {} } },
  };
  cluster.objects.update(key, (object) => {
    const spec = object['spec'] as { readonly suspend?: boolean };
    if (spec.suspend) return object;
    const metadata = { ...object.metadata, generation: 2, managedFields: [write] };
    return { ...object, metadata, spec: { ...spec, suspend: true } };
  });
}

/** From now on it lives by the limits that its team would have set. */
function settle(cluster: SimCluster, cronJob: (typeof fleet)[number]): void {
  const lasting = cronJobObject(cronJob);
  cluster.objects.update(
    { apiVersion: 'batch/v1', kind: 'CronJob', namespace: cronJob.namespace, name: cronJob.name },
    (object) => ({
      ...object,
      spec: { ...(lasting['spec'] as object), ...(cronJob.suspendedDays !== undefined && { suspend: true }) },
    }),
  );
}

function uidOf(object: RawObject): string {
  return (object['metadata'] as { readonly uid: string }).uid;
}

function list(cluster: SimCluster, kind: 'CronJob' | 'Job' | 'Pod'): RawObject[] {
  const apiVersion = kind === 'Pod' ? 'v1' : 'batch/v1';
  return cluster.objects.list({ apiVersion, kind }).map((object) => ({ ...object }));
}
