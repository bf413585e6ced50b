// What a tick of the dead-man's switch costs over a fleet whose runs all start: slots matched, watermarks moved, nothing to tell.
import {
  EarlierSpecs,
  evaluate,
  settleSlots,
  StartSkew,
  WatchGaps,
  ZoneCheck,
  type EvaluateDeps,
} from '@cronjob-monitor/controller/evaluate';
import { type CronJobFacts, type Execution, minuteMs } from '@cronjob-monitor/shared/domain';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  beat,
  listCronJobsToJudge,
  listDue,
  migrate,
  openStore,
  projectCronJobs,
  projectMonitor,
  recordRuns,
  setTargets,
  takeEpoch,
} from '@cronjob-monitor/shared/store';
import { aCronJob, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { aRun } from '../store/facts.ts';
import { Report } from './report.ts';

const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 10_000);
/** That of ten thousand CronJobs; what is smaller has to keep it too. */
const statementBudget = cronJobs > 10_000 ? undefined : 200;
/** Half the distance of two slots, and a little. */
const judgedAfterMs = 35_000;
const monitorUid = '0b6f3c52-5a1f-4d0e-8a6c-2f1f3a1d9b11';
let now = Date.UTC(2026, 10, 21, 12, 0, 0);
const clock = { ...systemClock, now: () => now };
let statements = 0;

const report = new Report('tick', `${cronJobs} CronJobs that run every minute, SQLite`);
const database = testDatabases().find(({ name }) => name === 'sqlite');
if (database === undefined) throw new Error('DATABASES leaves SQLite out');
const observer = {
  statement: () => {
    statements++;
    return () => {};
  },
  repeated: () => {},
  schemaFound: () => {},
};
const store = openStore(await database.fresh(), { clock, log: new RecordingLogger(), observer });
try {
  await migrate(store, { version: 'bench' });
  const epoch = await takeEpoch(store, 'bench');
  const fleet = await fill(epoch);
  const deps = await dependencies(epoch, fleet);
  await runAll(epoch, fleet);
  // The first full evaluation: from then on instants are due.
  await look(await listCronJobsToJudge(store), deps);
  for (let minute = 0; minute < 3; minute++) {
    now += minuteMs;
    await runAll(epoch, fleet);
    now += judgedAfterMs;
    statements = 0;
    const cpu = process.cpuUsage();
    const begunMs = performance.now();
    const looked = await tick(deps);
    const used = process.cpuUsage(cpu);
    report.note(`${looked} CronJobs were due`);
    report.figure('CPU of the tick', (used.user + used.system) / 1e6, 's', 5);
    report.figure('time of the tick', (performance.now() - begunMs) / 1_000, 's');
    report.figure('statements', statements, '', statementBudget);
    now -= judgedAfterMs;
  }
} finally {
  await store.close();
  await database.remove();
}
report.end();

async function tick(deps: EvaluateDeps): Promise<number> {
  const ids = (await listDue(store, now, 20_000, ['slots', 'presence'])).map(({ cronJobId }) => cronJobId);
  await look(ids, deps);
  return ids.length;
}

async function look(ids: readonly number[], deps: EvaluateDeps): Promise<void> {
  const parts = new Set(['missedSchedule', 'deadMan', 'suspended'] as const);
  await evaluate(ids, { parts, slotsOnly: new Set(ids) }, deps, new AbortController().signal);
}

async function fill(epoch: number): Promise<CronJobFacts[]> {
  const fleet = Array.from({ length: cronJobs }, (_, number) =>
    aCronJob({
      uid: `77aa21c0-0c1d-4a8e-9b37-${String(number).padStart(12, '0')}`,
      name: `job-${number}`,
      schedule: '* * * * *',
      createdAt: now - 10 * minuteMs,
    }),
  );
  for (let from = 0; from < fleet.length; from += 500) {
    const seen = fleet.slice(from, from + 500).map((facts) => ({
      facts,
      seenAt: now,
      changedAt: undefined,
      uncertainFrom: undefined,
      problem: undefined,
      nextRunAt: undefined,
    }));
    await store.fenced(epoch, (tx) => projectCronJobs(tx, seen));
  }
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, {
      uid: monitorUid,
      namespace: 'prod',
      name: 'all',
      generation: 1,
      createdAt: now,
      spec: {},
      phase: 'Active',
      conditions: [],
      counts: null,
      evaluatedAt: now,
    });
    const targets = fleet.map(({ uid }) => ({ cronJobUid: uid, leading: true }));
    await setTargets(tx, monitorUid, targets, now);
  });
  return fleet;
}

/** Every CronJob's run of this minute, on time. */
async function runAll(epoch: number, fleet: readonly CronJobFacts[]): Promise<void> {
  const runs = fleet.map((cronJob, number): Execution =>
    aRun(cronJob, {
      jobUid: `${(now / minuteMs).toString(16).padStart(8, '0')}-0c1d-4a8e-9b37-${String(number).padStart(12, '0')}`,
      jobName: `${cronJob.name}-${now / minuteMs}`,
      scheduledAt: now,
      createdAt: now + 500,
      startedAt: now + 1_000,
      finishedAt: now + 6_000,
    }),
  );
  for (let from = 0; from < runs.length; from += 100) await recordRuns(store, epoch, runs.slice(from, from + 100));
}

async function dependencies(epoch: number, fleet: readonly CronJobFacts[]): Promise<EvaluateDeps> {
  const facts = new Map(fleet.map((cronJob) => [cronJob.uid, cronJob]));
  const logger = new RecordingLogger();
  await beat(store, {
    holder: 'bench',
    version: 'bench',
    leading: true,
    epoch: epoch - 1,
    startedAt: now,
    beatAt: now,
    schedulers: [],
    evaluatedAt: undefined,
    figures: {},
  });
  const own = { sinceAt: now - 10 * minuteMs, blindSpans: [], generationOf: () => 1 };
  const ledger = {
    gaps: await WatchGaps.open({ store, epoch, logger }, own),
    startSkew: await StartSkew.load(store),
    zones: await ZoneCheck.load(store, 'UTC'),
    defaultZone: 'UTC',
    findCronJob: (uid: string) => facts.get(uid),
    isMonitored: () => true,
    jobsOf: () => [],
    unrecorded: () => [],
    namespaceDeletingAt: () => undefined,
    isSpecPending: () => false,
    graceMsOf: () => 120_000,
    isExcluded: () => false,
    freshThroughAt: () => now,
    newestStartAt: () => now,
  };
  return {
    store,
    epoch,
    clock,
    sources: {
      findCronJob: (uid) => facts.get(uid),
      watchersOf: () => [],
      wordsBeside: () => [],
      earlierSpecs: new EarlierSpecs(),
      defaultZone: 'UTC',
      jobsOf: () => [],
      podsOf: () => [],
      goneJobsOf: () => [],
      groupEndedAt: () => undefined,
      refusalOf: () => undefined,
    },
    closing: { isRecreated: () => false, isDeselected: () => true },
    freshThroughAt: () => now,
    blindFromAt: () => undefined,
    judgedThroughAt: () => now,
    isDelayed: () => false,
    knownOf: () => undefined,
    freeze: () => {
      throw new Error('there is nothing to tell');
    },
    settleSlots: (tx, ids, at) => settleSlots(tx, ids, ledger, at),
    onSettled: () => {},
    onRaised: () => {},
  };
}
