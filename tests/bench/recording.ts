// How fast and how heavy recording is, on a real API server: the start over a full cluster, idle, and bursts of ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRealCluster } from '../realcluster/real-cluster.ts';
import { createApiLoad } from './api-load.ts';
import { aCronJob, aJob, aMonitor, aNamespace, cronJobName, endedStatus, namespaceOf } from './fleet-objects.ts';
import { Report } from './report.ts';
import { startWatchedProcess, type WatchedProcess } from './watched-process.ts';

const cronJobs = Number(process.env['BENCH_CRONJOBS'] ?? 10_000);
const finishedJobs = Number(process.env['BENCH_JOBS'] ?? 3 * cronJobs);
/** Budgets are those of ten thousand CronJobs, for memory also those of thirty thousand; what is smaller has to keep them too. */
const memoryBudgetMb = cronJobs > 10_000 ? 600 : 300;
const isJudged = cronJobs <= 10_000;
const bursts = [1_000, Math.min(10_000, cronJobs)];

const report = new Report(
  'recording',
  `${cronJobs} CronJobs, ${finishedJobs} finished Jobs, SQLite, kube-apiserver on the same machine`,
);
const started = await startRealCluster();
if ('skipped' in started) throw new Error(started.skipped);
const cluster = started;
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const load = createApiLoad(cluster);
let service: WatchedProcess | undefined;
try {
  const owners = await fill();
  service = await startWatchedProcess([
    `--cluster.kubeconfig=${cluster.kubeconfig}`,
    `--storage.sqlite.path=${join(folder, 'bench.db')}`,
  ]);
  const delays = watchDelays(service);
  await untilRecorded(service, finishedJobs);
  report.figure(
    'start until all is recorded',
    (performance.now() - service.startedMs) / 1000,
    's',
    isJudged ? 40 : undefined,
  );
  report.figure('RSS then', service.rssMb(), 'MB', isJudged ? 350 : undefined);
  report.figure('CPU used until then', service.cpuSeconds(), 's');
  report.figure('event loop delay p99 meanwhile', delays.worst() * 1000, 'ms', 200);
  delays.stop();
  await idle(service);
  let recorded = finishedJobs;
  for (const [number, size] of bursts.entries()) {
    report.figure(
      `burst of ${size}: recorded after the last end`,
      await burst(service, owners, size, number, recorded),
      's',
      size <= 1_000 ? 2 : 15,
    );
    recorded += size;
  }
  report.figure('RSS at the end', service.rssMb(), 'MB');
} finally {
  await service?.stop();
  load.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
report.end();

/** Controllers are stopped: nothing moves but what we write. UIDs of the CronJobs by index. */
async function fill(): Promise<string[]> {
  await cluster.applyCrds();
  await cluster.stopControllers();
  const namespaces = Array.from({ length: 20 }, (_, index) => namespaceOf(index));
  for (const namespace of namespaces) {
    await load.write('POST', '/api/v1/namespaces', aNamespace(namespace));
    await load.write(
      'POST',
      `/apis/cronjob-monitor.io/v1alpha1/namespaces/${namespace}/cronjobmonitors`,
      aMonitor(namespace),
    );
  }
  const owners = await load.each(cronJobs, async (index) => {
    const made = await load.write('POST', `/apis/batch/v1/namespaces/${namespaceOf(index)}/cronjobs`, aCronJob(index));
    return (made['metadata'] as { uid: string }).uid;
  });
  const nowAt = Date.now();
  await load.each(finishedJobs, async (number) => {
    const index = number % cronJobs;
    const job = await createJob(index, 1 + Math.floor(number / cronJobs), owners, nowAt);
    await endJob(job, number % 20 !== 0);
  });
  report.note(`filled in ${Math.round((Date.now() - nowAt) / 1000)} s`);
  return owners;
}

async function createJob(
  index: number,
  run: number,
  owners: readonly string[],
  nowAt: number,
): Promise<Record<string, unknown>> {
  return load.write(
    'POST',
    `/apis/batch/v1/namespaces/${namespaceOf(index)}/jobs`,
    aJob(index, run, owners[index] ?? '', nowAt),
  );
}

async function endJob(job: Record<string, unknown>, isSuccess: boolean): Promise<void> {
  const { namespace, name } = job['metadata'] as { namespace: string; name: string };
  const endedAt = Date.now();
  await load.write('PUT', `/apis/batch/v1/namespaces/${namespace}/jobs/${name}/status`, {
    ...job,
    status: endedStatus(endedAt - 3_000, endedAt, isSuccess),
  });
}

/** Unfinished Jobs first, then all of them end as fast as the API server takes it. Seconds from the last end to the last record. */
async function burst(
  of: WatchedProcess,
  owners: readonly string[],
  size: number,
  number: number,
  recorded: number,
): Promise<number> {
  const nowAt = Date.now() + (number + 1) * 600_000;
  const jobs = await load.each(size, (index) => createJob(index, 0, owners, nowAt));
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const begunMs = performance.now();
  await load.each(size, (index) => endJob(jobs[index] ?? {}, index % 20 !== 0));
  const endedMs = performance.now();
  report.note(`${cronJobName(0)}…: ${size} ended in ${((endedMs - begunMs) / 1000).toFixed(1)} s`);
  await untilRecorded(of, recorded + size);
  return (performance.now() - endedMs) / 1000;
}

async function idle(of: WatchedProcess): Promise<void> {
  // The statuses of monitors follow what was recorded for half a minute.
  await new Promise((resolve) => setTimeout(resolve, 65_000));
  const cpu = of.cpuSeconds();
  const begunMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  report.figure('RSS at rest', of.rssMb(), 'MB', memoryBudgetMb);
  report.figure(
    'CPU when idle',
    (100 * (of.cpuSeconds() - cpu)) / ((performance.now() - begunMs) / 1000),
    '% of a core',
    isJudged ? 3 : undefined,
  );
}

async function untilRecorded(of: WatchedProcess, count: number): Promise<void> {
  const limitMs = performance.now() + 300_000;
  for (;;) {
    if (of.isOver()) throw new Error('the service has ended');
    const stats = await fetch(`${of.apiUrl}/admin/storage-stats`).then(
      (answer) => (answer.ok ? answer.json() : undefined),
      () => undefined,
    );
    const seen = (stats as { executionCount?: number } | undefined)?.executionCount ?? 0;
    if (seen >= count) {
      if (seen > count) throw new Error(`${seen} runs are recorded, ${count} ended`);
      return;
    }
    if (performance.now() > limitMs) throw new Error(`only ${seen} of ${count} runs are recorded after five minutes`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** The worst p99 of the event loop, read from the metrics three times as often as a Prometheus would: what is asked costs as well. */
function watchDelays(of: WatchedProcess): { worst: () => number; stop: () => void } {
  let worst = 0;
  const timer = setInterval(() => {
    void fetch(of.metricsUrl).then(
      async (answer) => {
        const found = /cronjob_monitor_event_loop_delay_seconds\{percentile="p99"\} ([0-9.e-]+)/.exec(
          await answer.text(),
        );
        worst = Math.max(worst, Number(found?.[1] ?? 0));
      },
      () => undefined,
    );
  }, 5_000);
  return { worst: () => worst, stop: () => clearInterval(timer) };
}
