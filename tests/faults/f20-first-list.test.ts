import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import type { Store } from '@cronjob-monitor/shared/store';
import type { MonitorProcess } from '../servers/index.ts';
import { readNumber } from '../store/rows.ts';
import { miscounts, openBeside } from './checker/index.ts';
import { startBench, until, type Bench } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, failedStatus, putCronJob, putJob, runningStatus, slotNumber } from './harness/objects.ts';

const cronJobs = 10_000;
const jobsEach = 5;
/** The rest goes on. */
const endedEach = 4;
const syncedWithinMs = 60_000;
const loopP99Seconds = 0.2;
/** The row speaks of two processors: while others take them away, delays are theirs and are told, not judged. */
const mostWaiting = 0.15;
const memoryBytes = 512 * 1024 * 1024;
const recordedWithinMs = 180_000;

/** F20: the first list of 10,000 CronJobs and 50,000 Jobs. */
describe('F20, the first list of a large cluster', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ controllers: false });
    for (let number = 0; number < cronJobs; number++) {
      const owner = putCronJob(bench.sim, `large-${number}`);
      for (let run = 0; run < jobsEach; run++) putRun(owner, run);
    }
  });
  after(() => bench.close());

  function putRun(owner: KubeObject, run: number): void {
    const slotAt = slotNumber(run);
    const endedAt = slotAt + 30_000;
    const ended = run === 1 ? failedStatus(endedAt, slotAt) : completeStatus(endedAt, slotAt);
    putJob(bench.sim, owner, { slotAt, status: run < endedEach ? ended : runningStatus(slotAt) });
  }

  for (let time = 1; time <= timesOf({ ci: 1, soak: 5 }); time++) {
    test(`synced in under 60 s, the event loop free, memory bounded; then all is recorded (${time})`, async (t) => {
      const storage = bench.sqlite(`large-${time}.db`);
      const service: MonitorProcess = await bench.prepare({ storage });
      const store: Store = openBeside(storage);
      t.after(async () => {
        await service.remove();
        await store.close();
      });
      const startedAt = performance.now();
      await service.startReady(syncedWithinMs);
      const syncedMs = performance.now() - startedAt;
      const loopAtSync = await loopP99();
      const count = (sql: string): Promise<number> => readNumber(store, sql).catch(() => 0); // no schema yet
      const recorded = (): Promise<number> => count('select count(*) as n from executions');
      const active = (): Promise<number> => count('select count(*) as n from active_jobs');
      await until(
        'all is recorded',
        async () =>
          (await recorded()) === cronJobs * endedEach && (await active()) === cronJobs * (jobsEach - endedEach),
        recordedWithinMs,
      );
      const recordedMs = performance.now() - startedAt;
      const loop = Math.max(loopAtSync, await loopP99());
      const memory = service.peakMemoryBytes() ?? 0;
      const waiting = (service.waitedForProcessorMs() ?? 0) / recordedMs;
      t.diagnostic(
        `synced after ${Math.round(syncedMs)} ms, all recorded after ${Math.round(recordedMs)} ms, ` +
          `loop p99 ${Math.round(loopAtSync * 1000)} ms until then, ${Math.round(loop * 1000)} ms at the end, at most ${Math.round(memory / 2 ** 20)} MiB, ` +
          `${Math.round(waiting * 100)} % of the time without a processor`,
      );
      assert.ok(syncedMs < syncedWithinMs);
      assert.ok(waiting > mostWaiting || loop < loopP99Seconds, 'the event loop was held up');
      assert.ok(memory < memoryBytes);
      assert.deepEqual(await miscounts(store), []);

      async function loopP99(): Promise<number> {
        return (await service.metric('cronjob_monitor_event_loop_delay_seconds', { percentile: 'p99' })) ?? NaN;
      }
    });
  }
});
