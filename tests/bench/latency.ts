// How soon a failure is told: from the watch event to the receiver, with run, alert and delivery on disk before, on SQLite.
import { setTimeout as wait } from 'node:timers/promises';
import type { AlertList } from '@cronjob-monitor/shared/contract';
import { piecesOf } from '@cronjob-monitor/simcluster';
import { startWebhookSink } from '../sinks/index.ts';
import { startBench, namespace, type Bench } from '../faults/harness/bench.ts';
import {
  endedPodStatus,
  failedStatus,
  putCronJob,
  putJob,
  putPod,
  runningStatus,
  setJobStatus,
} from '../faults/harness/objects.ts';
import { Report } from './report.ts';

/** The API gives no longer page. */
const mostOfPage = 500;
const singles = Number(process.env['BENCH_FAILURES'] ?? 100);
const burst = Number(process.env['BENCH_BURST'] ?? 1_000);
/** With logs, events, pod status and suggested fixes, as a monitor has them by default; each run has a pod on one of four nodes. */
const withEvidence = process.env['BENCH_EVIDENCE'] === 'true';
const report = new Report(
  'latency',
  `${singles} failures, one a second, then ${burst} at once, ${withEvidence ? 'with' : 'without'} evidence; SQLite, simulated API server`,
);
const budgets = withEvidence ? { p50: 150, p99: 500, last: 5 } : { p50: 15, p99: 75, last: 2 };
const nodes = ['node-1', 'node-2', 'node-3', 'node-4'];

const failedAt = new Map<string, number>();
/** Puts the pod of a run, running or ended. */
const pods = new Map<number, (ended: boolean) => unknown>();
const sink = await startWebhookSink();
const alerting = {
  channelRefs: [{ name: 'hook' }],
  ...(!withEvidence && { includeContext: { logs: false, events: false, podStatus: false, suggestedFixes: false } }),
};
const bench: Bench = await startBench({ controllers: false, nodes, monitor: { alerting } });
try {
  offerChannel();
  for (let number = 0; number < singles + burst; number++) begin(number);
  const service = await bench.prepare({
    config: {
      'channels.allow-cidrs': '127.0.0.0/8',
      'channels.secret-namespaces': '*',
      'scheduler.startup-grace-period': '0s',
      'rate-limits.max-alerts-per-minute': 100_000,
      'rate-limits.burst-limit': 100_000,
      'log-level': 'warn',
    },
  });
  await service.startReady();
  await service.until('all of them go on', async () => {
    const stats = await service.ask<{ summary: { running: number } }>('/api/v1/stats').catch(() => undefined);
    return stats?.summary.running === singles + burst;
  });
  await wait(5_000);

  for (let number = 0; number < singles; number++) {
    fail(number);
    await wait(1_000);
  }
  await sink.log.atLeast(singles, 30_000);
  const alone = latencies(0, singles);
  report.figure('one failure a second, p50', percentile(alone, 0.5), 'ms', budgets.p50);
  report.figure('one failure a second, p99', percentile(alone, 0.99), 'ms', budgets.p99);

  const ranMs = service.processorMs() ?? NaN;
  for (let number = singles; number < singles + burst; number++) fail(number);
  await sink.log.atLeast(singles + burst, 120_000);
  report.figure('CPU of the main thread for each of them', ((service.processorMs() ?? NaN) - ranMs) / burst, 'ms');
  const together = latencies(singles, burst);
  report.figure(`${burst} failures at once, p50`, percentile(together, 0.5) / 1_000, 's');
  report.figure(`${burst} failures at once, p99`, percentile(together, 0.99) / 1_000, 's');
  report.figure(`${burst} failures at once, the last`, percentile(together, 1) / 1_000, 's', budgets.last);
  if (withEvidence) {
    const complete = (told: readonly { readonly pending: boolean }[]): number =>
      (100 * told.filter(({ pending }) => !pending).length) / told.length;
    report.figure('messages of single failures with their log', complete(contexts(0, singles)), '%');
    report.figure(`messages of ${burst} at once with their log`, complete(contexts(singles, burst)), '%');
    const lastAt = Math.max(...failedAt.values());
    await wait(Math.max(0, lastAt + 10_000 - Date.now()));
    const pages = Array.from({ length: Math.ceil((singles + burst) / mostOfPage) }, (_, page) =>
      service.ask<AlertList>(`/api/v1/alerts?limit=${mostOfPage}&offset=${page * mostOfPage}`),
    );
    const items = (await Promise.all(pages)).flatMap((page) => page.items);
    if (items.length < singles + burst) throw new Error(`${items.length} alerts are listed of ${singles + burst}`);
    const newest = items.filter(({ cronjob }) => Number(cronjob.name.slice(4)) >= singles);
    const missing = burst - newest.filter(({ context }) => context.hasLogs === true).length;
    report.figure(`${burst} at once: alerts without their log after 10 s`, (100 * missing) / burst, '%', 1);
  }
} finally {
  await bench.close();
  await sink.stop();
}
report.end();

function nameOf(number: number): string {
  return `job-${String(number).padStart(4, '0')}`;
}

function begin(number: number): void {
  const owner = putCronJob(bench.sim, nameOf(number));
  const job = putJob(bench.sim, owner, { name: `${nameOf(number)}-run`, status: runningStatus() });
  if (!withEvidence) return;
  const name = podOf(number);
  const spec = { nodeName: nodes[number % nodes.length] };
  const status = { phase: 'Running', startTime: new Date().toISOString() };
  pods.set(number, (ended) => putPod(bench.sim, job, { name, spec, status: ended ? endedPodStatus(1) : status }));
  pods.get(number)?.(false);
  const log = Array.from({ length: 100 }, (_, line) => `${nameOf(number)}: step ${line} of 100\n`).join('');
  const pieces = piecesOf(`${log}no space left on device\n`, Date.now());
  bench.sim.logs.write({ namespace, pod: name, container: 'main' }, { pieces, ended: true });
}

function podOf(number: number): string {
  return `${nameOf(number)}-run-x`;
}

function fail(number: number): void {
  pods.get(number)?.(true);
  failedAt.set(nameOf(number), Date.now());
  setJobStatus(bench.sim, `${nameOf(number)}-run`, failedStatus());
}

function offerChannel(): void {
  const data = { url: Buffer.from(`${sink.url}/`).toString('base64') };
  const labels = { 'cronjob-monitor.io/channel-secret': 'true' };
  bench.sim.objects.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'shop', name: 'hook', labels },
    data,
  });
  bench.sim.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'AlertChannel',
    metadata: { name: 'hook' },
    spec: {
      type: 'webhook',
      webhook: { urlSecretRef: { name: 'hook', namespace: 'shop', key: 'url' } },
      rateLimiting: { maxAlertsPerHour: 1_000_000, burstLimit: 100_000 },
    },
  });
}

interface Told {
  readonly at: number;
  readonly cronjob: { readonly name: string };
  readonly context: { readonly pending: boolean };
}

/** First messages about these failures. */
function toldOf(from: number, count: number): Told[] {
  const names = new Set(Array.from({ length: count }, (_, index) => nameOf(from + index)));
  return sink.arrivals.flatMap(({ at, body }) => {
    const { data } = JSON.parse(body) as { data: Omit<Told, 'at'> };
    return names.has(data.cronjob.name) ? [{ ...data, at }] : [];
  });
}

/** Milliseconds from the event to the arrival, of these failures. */
function latencies(from: number, count: number): number[] {
  return toldOf(from, count).map(({ at, cronjob }) => at - (failedAt.get(cronjob.name) ?? at));
}

function contexts(from: number, count: number): Told['context'][] {
  return toldOf(from, count).map(({ context }) => context);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}
