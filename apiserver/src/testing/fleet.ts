import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CronJobFacts, type Execution, hourMs, dayMs } from '@cronjob-monitor/shared/domain';
import {
  migrate,
  openStore,
  projectCronJob,
  projectMonitor,
  recordRuns,
  setTargets,
  takeEpoch,
  type MonitorProjection,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { startApi, testNow, type TestApi } from './api.ts';

type ApiOptions = NonNullable<Parameters<typeof startApi>[0]>;

/** A database as a controller fills it, and the API that reads it. */
export interface TestFleet extends TestApi {
  readonly store: Store;
  readonly epoch: number;
  /** Writes a CronJob as its reconciler does; no monitor selects it yet. */
  addCronJob(
    changes?: Partial<CronJobFacts>,
    seen?: Partial<Parameters<typeof projectCronJob>[1]>,
  ): Promise<CronJobFacts>;
  /** Writes a monitor that selects these CronJobs, leading each. */
  addMonitor(changes: Partial<MonitorProjection>, cronJobs: readonly CronJobFacts[]): Promise<MonitorProjection>;
  /** Records ended runs of a CronJob. */
  addRuns(cronJob: CronJobFacts, ...runs: readonly Partial<Execution>[]): Promise<readonly Execution[]>;
}

/** A new database on a file, migrated, with nothing in it. */
export async function startFleet(options: Omit<ApiOptions, 'store' | 'clock'> = {}): Promise<TestFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  const clock = new FakeClock(testNow);
  const store = openStore({ type: 'sqlite', path: join(folder, 'monitor.db') }, { clock, log: new RecordingLogger() });
  await migrate(store, { version: 'test' });
  const epoch = await takeEpoch(store, 'controller-0_x');
  const api = await startApi({ ...options, store, clock });
  return {
    ...api,
    store,
    epoch,
    addCronJob: async (changes = {}, seen = {}) => {
      const facts = someCronJob(changes);
      await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: testNow, ...seen }));
      return facts;
    },
    addMonitor: async (changes, cronJobs) => {
      const monitor = aMonitor(changes);
      await store.fenced(epoch, async (tx) => {
        await projectMonitor(tx, monitor);
        const targets = cronJobs.map(({ uid }) => ({ cronJobUid: uid, leading: true }));
        await setTargets(tx, monitor.uid, targets, testNow);
      });
      return monitor;
    },
    addRuns: async (cronJob, ...changes) => {
      const runs = changes.map((change) => aRun(cronJob, change));
      for (let at = 0; at < runs.length; at += 100) await recordRuns(store, epoch, runs.slice(at, at + 100));
      return runs;
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function someCronJob(changes: Partial<CronJobFacts>): CronJobFacts {
  return aCronJob({ uid: randomUUID(), createdAt: testNow - 90 * dayMs, ...changes });
}

function aMonitor(changes: Partial<MonitorProjection>): MonitorProjection {
  return {
    uid: randomUUID(),
    namespace: 'prod',
    name: 'dr',
    generation: 4,
    createdAt: testNow - 90 * dayMs,
    spec: {},
    phase: 'Active',
    conditions: [],
    counts: {},
    evaluatedAt: testNow - 5_000,
    ...changes,
  };
}

/** A scheduled success that took 60 s; its slot is its creation. */
function aRun(cronJob: CronJobFacts, changes: Partial<Execution>): Execution {
  const createdAt = changes.createdAt ?? testNow - hourMs;
  const times = { startedAt: createdAt + 1_000, finishedAt: createdAt + 61_000 };
  return aRecordedRun(cronJob, createdAt, { ...times, templateHash: 'template-1', ...changes });
}
