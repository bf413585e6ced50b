// How fast the API answers over a large fleet, what a scrape of the metrics blocks, and what a second replica costs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@cronjob-monitor/shared/process';
import { openStore, type StoreSettings } from '@cronjob-monitor/shared/store';
import { kubeconfigText, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { startBench } from '../faults/harness/bench.ts';
import { putCronJob } from '../faults/harness/objects.ts';
import { MonitorProcess, runOnPostgres, startPostgres, type StoragePlace } from '../servers/index.ts';
import { fillFleet, type FilledFleet } from './api-fill.ts';
import { startWriter } from './api-writer.ts';
import { askByMany, askEvenly } from './many-clients.ts';
import { Report } from './report.ts';
import { shippedProgram } from './shipped.ts';
import { cpuSecondsOf } from './usage.ts';

const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 10_000);
/** On PostgreSQL; SQLite gets a tenth. */
const executions = Number(process.env['BENCH_EXECUTIONS'] ?? 10_000_000);
const clients = 16;
/** What is asked of all replicas together. */
const readsPerSecond = 50;
const measuredMs = Number(process.env['BENCH_MS'] ?? 3_000);
const wanted = process.env['DATABASES']?.split(',') ?? ['sqlite', 'postgres'];
/** Parts of what is measured, such as stats|alerts; all of it without. */
const only = process.env['BENCH_ONLY']?.split('|');
const isWanted = (what: string): boolean => only?.some((part) => what.includes(part)) ?? true;
const fillLimitMs = 600_000;

const sorts = [
  'name',
  'namespace',
  'status',
  'successRate',
  'verdict',
  'lastRun',
  'duration',
  'lastSuccess',
  'nextRun',
];
const filters = [
  'namespace=bench-03',
  'status=healthy',
  'status=critical',
  'status=suspended',
  'search=99',
  'monitor=bench-07/all',
  'sla=breached',
  'sla=met&sort=-successRate',
  'includeRemoved=true',
  'recent=30',
  'offset=9900',
];

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const kubeconfig = join(folder, 'kubeconfig');
// No server listens there: the API serves without a cluster, and nothing else moves while it is measured.
writeFileSync(kubeconfig, kubeconfigText({ server: 'http://127.0.0.1:1' }));
try {
  if (wanted.includes('sqlite')) await measureSqlite();
  if (wanted.includes('postgres')) await measurePostgres();
  if (isWanted('scrape')) await measureScrape();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureSqlite(): Promise<void> {
  const runs = Math.round(executions / 10);
  const report = new Report('api', `${cronJobs} CronJobs, ${runs} runs, SQLite, standalone, ${clients} clients`);
  const place = { type: 'sqlite', path: join(folder, 'bench.db') } as const;
  const fleet = await fill(place, runs, report);
  const service = await start('standalone', place);
  try {
    await measureReads([service], fleet, report);
    await measureUnderWrites(service, place, report);
  } finally {
    await service.remove();
  }
  report.end();
}

async function measurePostgres(): Promise<void> {
  const report = new Report(
    'api',
    `${cronJobs} CronJobs, ${executions} runs, PostgreSQL, apiserver, ${clients} clients`,
  );
  const settings = ['shared_buffers=1GB', 'work_mem=32MB', 'maintenance_work_mem=1GB', 'max_wal_size=16GB'];
  const server = await startPostgres({ settings: [...settings, 'wal_level=minimal', 'max_wal_senders=0'] });
  try {
    const { port, username, password } = server;
    const account = { host: '127.0.0.1', port, username, password };
    await runOnPostgres({ ...account, database: 'postgres' }, 'create database bench');
    const place = { type: 'postgres', ...account, database: 'bench' } as const;
    const pool = { maxIdleConns: 2, maxOpenConns: 4, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0 };
    const settings = { ...place, sslMode: 'disable', pool } as const;
    const fleet = await fill(settings, executions, report);
    const one = await start('apiserver', place);
    const other = await start('apiserver', place);
    try {
      await measureReads([one], fleet, report);
      await measureUnderWrites(one, settings, report);
      if (isWanted('replicas')) await compareReplicas(one, other, fleet, report);
    } finally {
      await Promise.all([one.remove(), other.remove()]);
    }
  } finally {
    await server.remove();
  }
  report.end();
}

async function fill(settings: StoreSettings, runs: number, report: Report): Promise<FilledFleet> {
  const begunMs = performance.now();
  const store = openStore(settings, {
    clock: systemClock,
    log: new RecordingLogger(),
    statementLimitMs: fillLimitMs,
  });
  try {
    const fleet = await fillFleet(store, { cronJobs, executions: runs }, systemClock.now());
    report.note(`filled with ${fleet.executions} runs in ${Math.round((performance.now() - begunMs) / 1_000)} s`);
    return fleet;
  } finally {
    await store.close();
  }
}

async function start(entryPoint: 'apiserver' | 'standalone', storage: StoragePlace): Promise<MonitorProcess> {
  const pool = storage.type === 'sqlite' ? {} : { [`storage.${storage.type}.pool.max-open-conns`]: 16 };
  const service = await MonitorProcess.prepare({
    entryPoint,
    program: shippedProgram(entryPoint),
    kubeconfig,
    storage,
    config: { 'log-level': 'error', ...pool },
  });
  service.start();
  await service.until('it answers', async () => {
    const answer = await fetch(`${service.api}/api/v1/stats`).catch(() => undefined);
    return answer?.status === 200;
  });
  return service;
}

interface Read {
  readonly what: string;
  readonly paths: readonly string[];
  readonly budgetMs: number;
}

function readsOf({ minutely, hourly }: FilledFleet): Read[] {
  const one = ({ namespace, name }: FilledFleet['hourly']): string => `/cronjobs/${namespace}/${name}`;
  const pages = (offset: number): string[] => [`${one(minutely)}/executions?limit=20&offset=${offset}`];
  return [
    { what: 'stats', paths: ['/stats'], budgetMs: 50 },
    ...[...sorts, 'activeAlerts'].flatMap((key) =>
      [key, `-${key}`].map((sort) => ({
        what: `cronjobs sort=${sort}`,
        paths: [`/cronjobs?limit=50&sort=${sort}`],
        budgetMs: 100,
      })),
    ),
    ...filters.map((filter) => ({
      what: `cronjobs ${filter}`,
      paths: [`/cronjobs?limit=50&${filter}`],
      budgetMs: 100,
    })),
    { what: 'cronjobs, all of them', paths: ['/cronjobs'], budgetMs: 1_000 },
    { what: 'CronJob detail, each minute', paths: [one(minutely)], budgetMs: 100 },
    { what: 'CronJob detail, seldom', paths: [one(hourly)], budgetMs: 100 },
    { what: 'overview', paths: ['/overview'], budgetMs: 50 },
    { what: 'tonight', paths: ['/tonight'], budgetMs: 50 },
    { what: 'wall, 100 rows', paths: ['/wall'], budgetMs: 80 },
    { what: 'wall, 100 rows of 9 days', paths: ['/wall?step=3h'], budgetMs: 200 },
    { what: 'executions, first page', paths: pages(0), budgetMs: 50 },
    { what: 'executions, page 1,000', paths: pages(19_980), budgetMs: 200 },
    { what: 'alerts', paths: ['/alerts'], budgetMs: 50 },
  ];
}

async function measureReads(services: readonly MonitorProcess[], fleet: FilledFleet, report: Report): Promise<void> {
  for (const { what, paths, budgetMs } of readsOf(fleet)) {
    if (!isWanted(what)) continue;
    const urls = paths.flatMap((path) => services.map(({ api }) => `${api}/api/v1${path}`));
    const found = await askByMany(urls, { clients, ms: measuredMs });
    report.figure(`${what}: p50`, found.p50Ms, 'ms');
    report.figure(`${what}: p99 of ${found.requests}`, found.p99Ms, 'ms', budgetMs);
    if (found.refused > 0) report.figure(`${what}: refused`, found.refused, '', 0);
    if (budgetMs >= 1_000) {
      report.figure(`${what}: ${found.encoding ?? 'not packed'}`, found.bytes / 1_000, 'kB');
      assert.ok(found.encoding !== undefined, 'the whole list is compressed');
    }
  }
}

/** Lists in any order, from anywhere, of any part of the fleet while runs are recorded: no question is asked twice. */
async function measureUnderWrites(service: MonitorProcess, settings: StoreSettings, report: Report): Promise<void> {
  if (!isWanted('writes')) return;
  const alone = startWriter(settings);
  await systemClock.sleep(measuredMs);
  const quiet = await alone.stop();
  report.figure('writes, a batch of 17 runs alone: p50', quiet.p50Ms, 'ms');
  report.figure('writes, a batch of 17 runs alone: p99', quiet.p99Ms, 'ms');
  const writer = startWriter(settings);
  let [asked, answered] = [0, 0];
  const begun = cpuSecondsOf(service.pid);
  for (const key of [...sorts, 'activeAlerts']) {
    const urls = Array.from({ length: 5_000 }, () => `${service.api}/api/v1${anyList(key, asked++)}`);
    const found = await askByMany(urls, { clients, ms: measuredMs });
    answered += found.requests;
    report.figure(`writes, cronjobs sort=${key}: p50`, found.p50Ms, 'ms');
    report.figure(`writes, cronjobs sort=${key}: p99 of ${found.requests}`, found.p99Ms, 'ms', 100);
    if (found.refused > 0) report.figure(`writes, cronjobs sort=${key}: refused`, found.refused, '', 0);
  }
  report.figure('writes, CPU of a list', ((cpuSecondsOf(service.pid) - begun) / answered) * 1_000, 'ms');
  const written = await writer.stop();
  report.figure('writes, a batch of 17 runs beside reads: p50', written.p50Ms, 'ms');
  report.figure(`writes, a batch of 17 runs beside reads: p99 of ${written.runs} runs`, written.p99Ms, 'ms');
}

/** The same list for the same number, and for the next ones others: it goes through directions, filters and offsets. */
function anyList(key: string, number: number): string {
  const parts = ['', 'status=healthy', 'status=warning', 'sla=met', 'namespace=bench-03', 'search=9', 'state=failing'];
  const mixed = (number * 2_654_435_761) % 2 ** 32;
  const direction = mixed % 2 === 0 ? '' : '-';
  const part = parts[Math.floor(mixed / 2) % parts.length] ?? '';
  const most = part === '' ? cronJobs : cronJobs / 20;
  return `/cronjobs?limit=50&sort=${direction}${key}&offset=${Math.floor(mixed / 16) % most}&${part}`;
}

/** The same reads at the same rate of one replica, and of two in turn: CPU of all of them for each read. */
async function compareReplicas(
  one: MonitorProcess,
  other: MonitorProcess,
  fleet: FilledFleet,
  report: Report,
): Promise<void> {
  const paths = readsOf(fleet)
    .filter(({ budgetMs }) => budgetMs < 1_000)
    .flatMap((read) => read.paths);
  const cost = async (services: readonly MonitorProcess[]): Promise<number> => {
    // Each read in its own round of both: who asks a second time meets the other replica.
    const urls = paths.flatMap((path) => services.map(({ api }) => `${api}/api/v1${path}`));
    const begun = services.map(({ pid }) => cpuSecondsOf(pid));
    const asked = await askEvenly(urls, { perSecond: readsPerSecond, ms: 5 * measuredMs });
    const used = services.map((service, index) => cpuSecondsOf(service.pid) - (begun[index] ?? 0));
    return (used.reduce((sum, seconds) => sum + seconds, 0) / asked) * 1_000;
  };
  // Both have run for as long: code is compiled as it is used, and one of them was measured before.
  for (const service of [one, other]) {
    await askByMany(
      paths.map((path) => `${service.api}/api/v1${path}`),
      { clients, ms: 5 * measuredMs },
    );
  }
  await cost([one, other]);
  const [alone, both] = [await cost([one]), await cost([one, other])];
  report.figure(`CPU of a read at ${readsPerSecond} a second, one replica`, alone, 'ms');
  report.figure(`CPU of a read at ${readsPerSecond} a second, two replicas`, both, 'ms', Math.ceil(alone * 1.1));
  await assertAlike(one, other);
}

/** A page of one replica goes on at the other, and both say the same. */
async function assertAlike(one: MonitorProcess, other: MonitorProcess): Promise<void> {
  interface Page {
    readonly items: readonly { readonly namespace: string; readonly name: string }[];
  }
  const ofFourPages = async (): Promise<number> => {
    const names = new Set<string>();
    for (const [number, service] of [one, other, one, other].entries()) {
      const { items } = await service.ask<Page>(`/api/v1/cronjobs?sort=-successRate&limit=50&offset=${number * 50}`);
      for (const { namespace, name } of items) names.add(`${namespace}/${name}`);
    }
    return names.size;
  };
  // The minute may turn between two pages, and with it the windows of all rates.
  let found = 0;
  for (let tries = 0; tries < 3 && found !== Math.min(200, cronJobs); tries++) found = await ofFourPages();
  assert.equal(found, Math.min(200, cronJobs), 'four pages, of two replicas in turn, are four different pages');
  const path = '/api/v1/cronjobs?limit=50&sort=name&namespace=bench-03';
  const tagOf = async ({ api }: MonitorProcess): Promise<string | null> =>
    (await fetch(api + path)).headers.get('etag');
  let tags: readonly (string | null)[] = [];
  // The minute may turn between both.
  for (let tries = 0; tries < 3 && (tags.length === 0 || tags[0] !== tags[1]); tries++) {
    tags = [await tagOf(one), await tagOf(other)];
  }
  assert.equal(tags[0], tags[1], 'two replicas say the same');
}

/** The leader's metrics with a whole fleet watched: how long its liveness probe has to wait while they are read. */
async function measureScrape(): Promise<void> {
  const report = new Report('api', `metrics of ${cronJobs} CronJobs, SQLite, standalone on a simulated cluster`);
  const bench = await startBench({ controllers: false, monitor: {} });
  try {
    for (let index = 0; index < cronJobs; index++) putCronJob(bench.sim, `job-${String(index).padStart(5, '0')}`);
    const service = await bench.prepare({ config: { 'log-level': 'error' } });
    await service.startReady();
    await service.until(
      'all are watched',
      async () => {
        const text = await (await fetch(`${service.metrics}/metrics`)).text();
        return (text.match(/^cronjob_monitor_executions_total\{/gm)?.length ?? 0) >= 2 * cronJobs;
      },
      120_000,
    );
    const quiet = await longestProbe(service, () => new Promise((resolve) => setTimeout(resolve, 2_000)));
    report.figure('longest probe without a scrape', quiet, 'ms');
    let [longest, bytes, lines, tookMs] = [0, 0, 0, 0];
    for (let round = 0; round < 5; round++) {
      const waited = await longestProbe(service, async () => {
        const begunMs = performance.now();
        const answer = await fetch(`${service.metrics}/metrics`);
        const text = await answer.text();
        tookMs = Math.max(tookMs, performance.now() - begunMs);
        bytes = text.length;
        lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
      });
      longest = Math.max(longest, waited);
    }
    report.note(`${lines} series, ${Math.round(bytes / 1_000)} kB`);
    report.figure('longest scrape', tookMs, 'ms');
    report.figure('longest probe during a scrape', longest, 'ms', 200);
  } finally {
    await bench.close();
  }
  report.end();
}

/** The longest wait for the answer of the liveness probe, asked without a pause while `work` goes on. */
async function longestProbe(service: MonitorProcess, work: () => Promise<unknown>): Promise<number> {
  const over = new AbortController();
  let longest = 0;
  const asking = (async () => {
    while (!over.signal.aborted) {
      const begunMs = performance.now();
      await (await fetch(`${service.probes}/healthz`)).text();
      longest = Math.max(longest, performance.now() - begunMs);
    }
  })();
  await work();
  over.abort();
  await asking;
  return longest;
}
