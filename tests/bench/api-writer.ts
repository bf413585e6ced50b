// Records runs while the API is read: a thread of its own, so that what it costs is not paid by those who ask.
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  listCronJobs,
  openStore,
  recordRuns,
  takeEpoch,
  type CatalogCronJob,
  type Store,
  type StoreSettings,
} from '@cronjob-monitor/shared/store';
import { aRecordedRun, RecordingLogger } from '@cronjob-monitor/shared/testing';

/** Runs of one batch, and how often one is written: 170 runs a second. */
const runsOfBatch = 17;
const everyMs = 100;
/** One run in so many fails. */
const failsOnceIn = 50;

/** How long the batches took that were written, in ms. */
interface Written {
  readonly runs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Begins to record runs of the fleet that this database holds; `stop` says how long that took. */
export function startWriter(settings: StoreSettings): { stop(): Promise<Written> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: settings });
  const ended = Promise.withResolvers<Written>();
  worker.once('message', ended.resolve);
  worker.once('error', ended.reject);
  return {
    stop: () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
      worker.postMessage('stop');
      return ended.promise;
    },
  };
}

if (parentPort) await write(parentPort, workerData as StoreSettings);

async function write(port: NonNullable<typeof parentPort>, settings: StoreSettings): Promise<void> {
  const store = openStore(settings, { clock: systemClock, log: new RecordingLogger() });
  const stopped = new AbortController();
  port.once('message', () => stopped.abort());
  const took: number[] = [];
  try {
    const epoch = await takeEpoch(store, 'bench-writer');
    const fleet = await listCronJobs(store, {});
    for (let begunMs = performance.now(), batch = 0; !stopped.signal.aborted; batch++) {
      const batchMs = performance.now();
      await recordBatch(store, epoch, fleet, batch);
      took.push(performance.now() - batchMs);
      const untilNextMs = begunMs + (batch + 1) * everyMs - performance.now();
      if (untilNextMs > 0) await systemClock.sleep(untilNextMs, stopped.signal).catch(() => {});
      else begunMs -= untilNextMs; // what could not be written in time is not made up for
    }
  } finally {
    await store.close();
  }
  const sorted = took.toSorted((a, b) => a - b);
  const rank = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  port.postMessage({ runs: took.length * runsOfBatch, p50Ms: rank(0.5), p99Ms: rank(0.99) } satisfies Written);
}

/** Runs of neighbours in an order that meets all of the fleet in turn. */
async function recordBatch(
  store: Store,
  epoch: number,
  fleet: readonly CatalogCronJob[],
  batch: number,
): Promise<void> {
  const now = store.now();
  const runs = Array.from({ length: runsOfBatch }, (_, offset) => {
    const number = batch * runsOfBatch + offset;
    const cronJob = fleet[(number * 7_919) % fleet.length];
    if (!cronJob) throw new RangeError('the fleet of the benchmark has no CronJob');
    const isFailed = number % failsOnceIn === 0;
    return aRecordedRun(cronJob, now - 1_500, {
      jobName: `${cronJob.name}-w${number}`,
      finishedAt: now,
      ...(isFailed && { status: 'failed', exitCode: 1, reason: 'Error', jobReason: 'BackoffLimitExceeded' }),
    });
  });
  await recordRuns(store, epoch, runs);
}
