// How soon a failure is told: from the watch event to the receiver, with run, alert and delivery on disk before, on SQLite.
import { setTimeout as wait } from 'node:timers/promises';
import { startWebhookSink } from '../sinks/index.ts';
import { startBench, type Bench } from '../faults/harness/bench.ts';
import { failedStatus, putCronJob, putJob, runningStatus, setJobStatus } from '../faults/harness/objects.ts';
import { Report } from './report.ts';

const singles = Number(process.env['BENCH_FAILURES'] ?? 100);
const burst = Number(process.env['BENCH_BURST'] ?? 1_000);
/** With logs, events, pod status and suggested fixes, as a monitor has them by default; there is no budget for that. */
const withEvidence = process.env['BENCH_EVIDENCE'] === 'true';
const report = new Report(
  'latency',
  `${singles} failures, one a second, then ${burst} at once, ${withEvidence ? 'with' : 'without'} evidence; SQLite, simulated API server`,
);
const budget = (most: number): number | undefined => (withEvidence ? undefined : most);

const failedAt = new Map<string, number>();
const sink = await startWebhookSink();
const alerting = {
  channelRefs: [{ name: 'hook' }],
  ...(!withEvidence && { includeContext: { logs: false, events: false, podStatus: false, suggestedFixes: false } }),
};
const bench: Bench = await startBench({ controllers: false, monitor: { alerting } });
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
  report.figure('one failure a second, p50', percentile(alone, 0.5), 'ms', budget(15));
  report.figure('one failure a second, p99', percentile(alone, 0.99), 'ms', budget(75));

  const ranMs = service.processorMs() ?? NaN;
  for (let number = singles; number < singles + burst; number++) fail(number);
  await sink.log.atLeast(singles + burst, 120_000);
  report.figure('CPU of the main thread for each of them', ((service.processorMs() ?? NaN) - ranMs) / burst, 'ms');
  const together = latencies(singles, burst);
  report.figure(`${burst} failures at once, p50`, percentile(together, 0.5) / 1_000, 's');
  report.figure(`${burst} failures at once, p99`, percentile(together, 0.99) / 1_000, 's', budget(5));
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
  putJob(bench.sim, owner, { name: `${nameOf(number)}-run`, status: runningStatus() });
}

function fail(number: number): void {
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

/** Milliseconds from the event to the arrival, of these failures. */
function latencies(from: number, count: number): number[] {
  const names = new Set(Array.from({ length: count }, (_, index) => nameOf(from + index)));
  return sink.arrivals.flatMap(({ at, body }) => {
    const { data } = JSON.parse(body) as { data: { cronjob: { name: string } } };
    const { name } = data.cronjob;
    return names.has(name) ? [at - (failedAt.get(name) ?? at)] : [];
  });
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}
