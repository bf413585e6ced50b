// Whether the service keeps up with ten thousand CronJobs that run every minute: 170 runs end in each second, for ten minutes.
import { setTimeout as wait } from 'node:timers/promises';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import { openBeside } from '../faults/checker/stored-runs.ts';
import { startBench, until } from '../faults/harness/bench.ts';
import {
  completeStatus,
  failedStatus,
  putCronJob,
  putJob,
  removeJob,
  runningStatus,
  setJobStatus,
} from '../faults/harness/objects.ts';
import { imageEnvironment, type MonitorProcess } from '../servers/index.ts';
import { readNumber, readRows } from '../store/rows.ts';
import { watchDisk } from './disk.ts';
import { Report } from './report.ts';
import { cpuSecondsOf, residentMbOf } from './usage.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 600);
const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 10_000);
const perSecond = cronJobs / 60;
/** A Job runs so long, and is gone so long after its end. */
const runMs = 5_000;
const keptMs = 60_000;
const stepMs = 50;

const report = new Report(
  'steady',
  `${perSecond.toFixed(0)} runs end each second for ${seconds} s; ${cronJobs} CronJobs, one run in 50 fails, SQLite, simulated API server`,
);

interface Run {
  readonly name: string;
  readonly uid: string;
}

const bench = await startBench({ controllers: false });
try {
  const fleet = Array.from({ length: cronJobs }, (_, index) =>
    putCronJob(bench.sim, `job-${String(index).padStart(5, '0')}`, { cron: { schedule: '* * * * *' } }),
  );
  const storage = bench.sqlite();
  const service = await bench.prepare({ storage, config: { 'log-level': 'error' }, env: imageEnvironment() });
  await service.startReady();
  await wait(10_000);
  const cpu = cpuSecondsOf(service.pid);
  const disk = watchDisk(bench.folder);
  const endedAt = await makeRuns(fleet, service);
  const { p99Ms, longestMs } = await disk.stop();
  report.figure('CPU of the service', (100 * (cpuSecondsOf(service.pid) - cpu)) / seconds, '% of a core');
  const store = openBeside(storage);
  try {
    const count = (): Promise<number> => readNumber(store, 'select count(*) as n from executions');
    await until('all are recorded', async () => (await count()) >= endedAt.size, 60_000);
    report.figure('runs that are missing or too many', Math.abs((await count()) - endedAt.size), '', 0);
    const rows = await readRows(store, 'select job_uid, recorded_at from executions');
    const lags = rows
      .map((row) => Number(row['recorded_at']) - (endedAt.get(store.dialect.id16Text(row['job_uid'])) ?? NaN))
      .toSorted((a, b) => a - b);
    const rank = (share: number): number => (lags[Math.ceil(share * lags.length) - 1] ?? NaN) / 1_000;
    report.figure('from the end of a run to its record, p50', rank(0.5), 's');
    report.figure('the same, p99', rank(0.99), 's', 2);
    report.note(
      `the disk kept 4 kB within ${p99Ms.toFixed(0)} ms at the 99th percentile, ${longestMs.toFixed(0)} ms at most`,
    );
  } finally {
    await store.close();
  }
} finally {
  await bench.close();
}
report.end();

/** Instants of the ends by UID, as the API server told them. */
async function makeRuns(fleet: readonly KubeObject[], service: MonitorProcess): Promise<Map<string, number>> {
  const endedAt = new Map<string, number>();
  const going: (Run & { readonly endsAt: number })[] = [];
  const kept: (Run & { readonly goesAt: number })[] = [];
  const begunAt = Date.now();
  const memory: number[] = [];
  for (let made = 0; ;) {
    const at = Date.now();
    const sinceMs = Math.min(at - begunAt, seconds * 1_000);
    for (; made < (sinceMs / 1_000) * perSecond; made++) {
      const owner = fleet[made % fleet.length];
      if (!owner) break;
      const slotAt = Math.floor(begunAt / minuteMs + Math.floor(made / fleet.length)) * minuteMs;
      const { metadata } = putJob(bench.sim, owner, { slotAt, status: runningStatus(at) });
      going.push({ name: metadata.name, uid: metadata.uid, endsAt: at + runMs });
    }
    while (going[0] && going[0].endsAt <= at) {
      const { name, uid } = going.shift() as Run;
      setJobStatus(bench.sim, name, endedAt.size % 50 === 7 ? failedStatus() : completeStatus());
      endedAt.set(uid, Date.now());
      kept.push({ name, uid, goesAt: at + keptMs });
    }
    while (kept[0] && kept[0].goesAt <= at) removeJob(bench.sim, (kept.shift() as Run).name);
    const second = Math.floor((at - begunAt) / 1_000);
    if (second > memory.length) memory.push(residentMbOf(service.pid));
    if (at - begunAt > seconds * 1_000 && going.length === 0) break;
    await wait(stepMs);
  }
  const byMinute = memory.filter((_, second) => second % 60 === 59);
  report.note(`RSS by the minute, MB: ${byMinute.map((mb) => mb.toFixed(0)).join(', ')}`);
  // Between two collections it rises and falls by hundreds of megabytes: what counts is whether it still reaches new heights.
  const settled = Math.max(...memory.slice(0, -memory.length / 3));
  const last = Math.max(...memory.slice(-memory.length / 3));
  report.figure('highest RSS, the last third above all before', (100 * (last - settled)) / settled, '%', 10);
  return endedAt;
}
