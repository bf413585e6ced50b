// How long history takes to go while runs are recorded, and what it adds to a recording: five of six million runs, PostgreSQL and SQLite.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { CronJobFacts } from '@cronjob-monitor/shared/domain';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  openStore,
  projectCronJobs,
  pruneHistory,
  recordRuns,
  takeEpoch,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases, type TestDatabase } from '../store/databases.ts';
import { aRun, seen, someCronJob } from '../store/facts.ts';
import { readNumber } from '../store/rows.ts';
import { fillFleet } from './api-fill.ts';
import { Report } from './report.ts';

const pruned = Number(process.env['BENCH_PRUNED'] ?? 5_000_000);
/** The fill covers 30 days evenly; what is older than 5 goes. */
const filled = Math.round(pruned * 1.2);
const keptMs = 5 * 86_400_000;
const recordedPerSecond = 170;
const cronJobs = 10_000;

for (const database of testDatabases()) {
  // SQLite is meant for a tenth of the others.
  if (database.name === 'postgres') await measure(database, filled);
  if (database.name === 'sqlite') await measure(database, filled / 10);
}

async function measure(database: TestDatabase, executions: number): Promise<void> {
  const report = new Report(
    'prune',
    `five sixths of ${executions} runs, while ${recordedPerSecond} a second are recorded, ${database.name}`,
  );
  const options = { clock: systemClock, log: new RecordingLogger(), statementLimitMs: 600_000 };
  const store = openStore(await database.fresh(), options);
  try {
    const now = Date.now();
    const begunMs = performance.now();
    await fillFleet(store, { cronJobs, executions }, now);
    report.note(`filled in ${Math.round((performance.now() - begunMs) / 1_000)} s`);
    const epoch = await takeEpoch(store, 'bench');
    const fleet = Array.from({ length: recordedPerSecond }, () => someCronJob({ createdAt: now - keptMs }));
    await store.fenced(epoch, (tx) =>
      projectCronJobs(
        tx,
        fleet.map((facts) => seen(facts, { seenAt: now })),
      ),
    );
    const alone = await recordingsDuring(store, epoch, fleet, () => wait(10_000));
    const before = now - keptMs;
    let removed = 0;
    let tookMs = 0;
    const beside = await recordingsDuring(store, epoch, fleet, async () => {
      const startedMs = performance.now();
      for (let completed = false; !completed;) {
        const round = await pruneHistory(store, { before, epoch, budgetMs: 60_000 });
        removed += round.executions;
        ({ completed } = round);
      }
      tookMs = performance.now() - startedMs;
    });
    const left = await readNumber(store, 'select count(*) as n from executions where created_at < ?', [before]);
    report.figure('runs that should be gone', left, '', 0);
    report.figure('runs removed each second', removed / (tookMs / 1_000), '');
    report.figure('for a million of them', (tookMs / removed) * 1_000, 's');
    report.figure('recording of a second of runs alone, p99', alone, 'ms');
    report.figure('the same meanwhile, p99', beside, 'ms', 2_000);
  } finally {
    await store.close();
    await database.remove();
  }
  report.end();
}

/** The 99th percentile of the time in which the runs of one second are recorded, while `work` goes on. */
async function recordingsDuring(
  store: Store,
  epoch: number,
  fleet: readonly CronJobFacts[],
  work: () => Promise<unknown>,
): Promise<number> {
  const over = new AbortController();
  const took: number[] = [];
  const recording = (async () => {
    while (!over.signal.aborted) {
      const begunMs = performance.now();
      const createdAt = Date.now();
      const runs = fleet.map((cronJob) => aRun(cronJob, { jobUid: randomUUID(), createdAt, scheduledAt: createdAt }));
      for (let from = 0; from < runs.length; from += 100) await recordRuns(store, epoch, runs.slice(from, from + 100));
      const spentMs = performance.now() - begunMs;
      took.push(spentMs);
      await wait(Math.max(0, 1_000 - spentMs));
    }
  })();
  await work();
  over.abort();
  await recording;
  took.sort((a, b) => a - b);
  return took[Math.ceil(0.99 * took.length) - 1] ?? NaN;
}
