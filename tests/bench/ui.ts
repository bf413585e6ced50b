// What the user interface takes: bytes of a first visit, until a page is painted and complete, clicks, scrolling, and memory while it is kept open.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Health } from '@cronjob-monitor/shared/contract';
import { systemClock } from '@cronjob-monitor/shared/process';
import { openStore, type StoreSettings } from '@cronjob-monitor/shared/store';
import { kubeconfigText, RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { Browser, Page } from 'playwright-core';
import { openPage, startBrowser, until, whyNoBrowser } from '../e2e/ui/fixtures/browser.ts';
import { startBench } from '../faults/harness/bench.ts';
import {
  completeStatus,
  putCronJob,
  putJob,
  removeJob,
  runningStatus,
  setJobStatus,
} from '../faults/harness/objects.ts';
import { MonitorProcess } from '../servers/index.ts';
import { fillFleet, type FilledFleet } from './api-fill.ts';
import { Report } from './report.ts';
import { shippedProgram } from './shipped.ts';

const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 10_000);
const executions = Number(process.env['BENCH_EXECUTIONS'] ?? 10 * cronJobs);
/** As many as come in an hour with one each second. */
const changes = Number(process.env['BENCH_CHANGES'] ?? 3_600);
const changesPerSecond = 20;
/** Until what the stream says first has been looked at. */
const settledMs = 5_000;
const idleMs = 30_000;
const completeLimitMs = 60_000;
const loads = 5;

/** Notes what the browser tells of layout, long tasks and clicks from the first moment on. */
const watching = `globalThis.seen = { shift: 0, tasks: [], clicks: [] };
  const on = (type, take, more) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
  on('layout-shift', (entry) => { if (!entry.hadRecentInput) seen.shift += entry.value; });
  on('longtask', (entry) => seen.tasks.push(entry.duration));
  on('event', (entry) => { if (entry.name === 'click') seen.clicks.push(entry.duration); }, { durationThreshold: 16 });`;

/** Nothing is a placeholder any more. */
const isComplete = `document.querySelector('main h1') !== null && document.querySelector('.skeleton') === null`;

const scrolledPerFramePx = 40;
/** Scrolls on, a row each frame, 2,400 pixels a second, and tells when each frame was due, and when it was begun. */
const scrollThrough = `new Promise((resolve) => {
  const due = [];
  const begun = [];
  const step = (frameAt) => {
    due.push(frameAt);
    begun.push(performance.now());
    scrollBy(0, ${scrolledPerFramePx});
    if (due.length < 600) requestAnimationFrame(step);
    else resolve({ due, begun });
  };
  requestAnimationFrame(step);
})`;

const report = new Report(
  'ui',
  `${cronJobs} CronJobs, ${executions} runs, SQLite, standalone, Chromium without a graphics processor, 1,440 × 1,000`,
);
const missing = whyNoBrowser();
if (missing !== undefined) throw new Error(missing);
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const browser = await startBrowser();
try {
  await measurePages(browser);
  await measureKeptOpen(browser);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
report.end();

async function measurePages(from: Browser): Promise<void> {
  const kubeconfig = join(folder, 'kubeconfig');
  // Nobody listens there: the service shows what it has, and nothing else moves while it is measured.
  writeFileSync(kubeconfig, kubeconfigText({ server: 'http://127.0.0.1:1' }));
  const place = { type: 'sqlite', path: join(folder, 'bench.db') } as const;
  const fleet = await fill(place);
  const service = await MonitorProcess.prepare({
    entryPoint: 'standalone',
    program: shippedProgram('standalone', { withUi: true }),
    kubeconfig,
    storage: place,
    config: { 'log-level': 'error' },
  });
  try {
    service.start();
    await service.until('it answers', async () => {
      const answer = await fetch(`${service.api}/api/v1/stats`).catch(() => undefined);
      return answer?.status === 200;
    });
    await measureDashboard(from, service.api);
    await measureList(from, service.api);
    await measureCronJob(from, service.api, fleet);
  } finally {
    await service.remove();
  }
}

async function fill(place: StoreSettings): Promise<FilledFleet> {
  const store = openStore(place, { clock: systemClock, log: new RecordingLogger(), statementLimitMs: completeLimitMs });
  try {
    return await fillFleet(store, { cronJobs, executions }, systemClock.now());
  } finally {
    await store.close();
  }
}

async function measureDashboard(from: Browser, url: string): Promise<void> {
  await using opened = await openPage(from);
  const { page } = opened;
  await page.addInitScript({ content: watching });
  const completeMs = await timeUntilComplete(page, url);
  report.figure('dashboard: JavaScript of the first visit, gzip', await scriptKb(page), 'kB', 115);
  report.figure('dashboard: first contentful paint', await firstPaintMs(page), 'ms', 1_000);
  report.figure('dashboard: complete', completeMs, 'ms', 2_000);
  report.figure('dashboard: layout shift', await page.evaluate<number>('seen.shift'), '', 0.05);

  for (const name of ['CronJobs', 'Alerts', 'Wall', 'SLA', 'Channels', 'Monitors', 'Dashboard']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: false }).first().click();
    await until(page, isComplete, completeLimitMs);
  }
  await page.waitForTimeout(500);
  const clicks = await page.evaluate<number[]>('seen.clicks');
  report.figure('from a click to what it shows first, the slowest of 7 pages', Math.max(16, ...clicks), 'ms', 200);
}

async function measureList(from: Browser, url: string): Promise<void> {
  await using opened = await openPage(from);
  const { page } = opened;
  report.figure('list of all CronJobs: complete', await timeUntilComplete(page, `${url}/cronjobs`), 'ms', 2_000);
  report.figure('list of all CronJobs: JavaScript, gzip', await scriptKb(page), 'kB', 150);
  await page.waitForTimeout(settledMs);
  const { due, begun } = await page.evaluate<{ due: number[]; begun: number[] }>(scrollThrough);
  const frames = gapsOf(due);
  report.figure('scrolling: 95 % of frames within', at95(frames), 'ms', 20);
  report.figure('scrolling: the longest frame', frames.at(-1) ?? NaN, 'ms', 100);
  report.figure('scrolling: 95 % of frames begun after', at95(gapsOf(begun)), 'ms');
  report.figure('rows in the document', await page.locator('tbody tr:not(.space)').count(), '', 60);
}

/** From one to the next, the shortest first. */
function gapsOf(times: readonly number[]): number[] {
  return times
    .slice(1)
    .map((time, index) => time - (times[index] ?? NaN))
    .toSorted((a, b) => a - b);
}

function at95(sorted: readonly number[]): number {
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? NaN;
}

/** The middle one of some loads: what else a machine does at that moment may double the longest task. */
async function measureCronJob(from: Browser, url: string, { minutely }: FilledFleet): Promise<void> {
  const completeMs: number[] = [];
  const longestTaskMs: number[] = [];
  for (let load = 0; load < loads; load++) {
    await using opened = await openPage(from);
    const { page } = opened;
    await page.addInitScript({ content: watching });
    completeMs.push(await timeUntilComplete(page, `${url}/cronjobs/${minutely.namespace}/${minutely.name}`));
    longestTaskMs.push(Math.max(0, ...(await page.evaluate<number[]>('seen.tasks'))));
  }
  report.figure('page of a CronJob that runs each minute: complete', medianOf(completeMs), 'ms', 2_000);
  report.figure('the same, charts and all: the longest task', medianOf(longestTaskMs), 'ms', 200);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** A dashboard that stays open while runs end: what it keeps of them. */
async function measureKeptOpen(from: Browser): Promise<void> {
  const bench = await startBench({ controllers: false });
  try {
    const fleet = Array.from({ length: 200 }, (_, index) => putCronJob(bench.sim, `job-${index}`));
    const service = await bench.prepare({
      program: shippedProgram('standalone', { withUi: true }),
      config: { 'log-level': 'error' },
    });
    await service.startReady();
    await service.until('it has evaluated', async () => {
      const { lastEvaluation } = await service.ask<Health>('/api/v1/health');
      return lastEvaluation !== null;
    });
    await using opened = await openPage(from);
    const { page } = opened;
    await timeUntilComplete(page, service.api);
    await page.waitForTimeout(settledMs);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.waitForTimeout(idleMs);
    report.figure(`dashboard: requests in ${idleMs / 1_000} s of rest, beside the stream`, asked.length, '', 0);
    const begunAt = Date.now();
    const endRuns = async (count: number, first: number): Promise<void> => {
      for (let made = 0; made < count; made++) {
        const number = first + made;
        const owner = fleet[number % fleet.length];
        if (!owner) return;
        const slotAt = (Math.floor(begunAt / 60_000) - number) * 60_000;
        const { metadata } = putJob(bench.sim, owner, { slotAt, status: runningStatus() });
        setJobStatus(bench.sim, metadata.name, completeStatus());
        await wait(1_000 / changesPerSecond);
        removeJob(bench.sim, metadata.name);
      }
    };
    await endRuns(200, 0);
    const before = await heapMb(page);
    await endRuns(changes, 200);
    report.figure(`heap of the page after ${changes} changes more, grown by`, (await heapMb(page)) - before, 'MB', 10);
  } finally {
    await bench.close();
  }
}

async function timeUntilComplete(page: Page, url: string): Promise<number> {
  const begunMs = performance.now();
  await page.goto(url);
  await until(page, isComplete, completeLimitMs);
  return performance.now() - begunMs;
}

function firstPaintMs(page: Page): Promise<number> {
  return page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
}

/** As it went over the wire. */
function scriptKb(page: Page): Promise<number> {
  const scripts = `performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.endsWith('.js'))`;
  return page.evaluate(`${scripts}.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1000`);
}

/** What is left after the rubbish is collected. */
async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 2 ** 20;
}
