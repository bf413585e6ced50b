import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import type { MonitorProcess } from '../servers/index.ts';
import { JobReader, openBeside, untilAllRecorded } from './checker/index.ts';
import { listsAt, namespace, startBench, type Bench } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import {
  completeStatus,
  endedPodStatus,
  failedStatus,
  putCronJob,
  putJob,
  putPod,
  runningStatus,
  setJobStatus,
  slotNumber,
} from './harness/objects.ts';

const jobs = 1_000;
/** All Jobs come within 20 s; a soak goes on for five minutes. */
const lastsMs = 20_000 * timesOf({ ci: 1, soak: 15 });
const exitCode = 3;
/** How long the service waits is left to chance, up to a bound: here it always waits that long, so that the number of its tries is no chance. */
const longestWaits = '--import=data:text/javascript,Math.random=()=>0.999';
/** A list may be cut like a watch, and is tried again after 0.8, 1.6, 3.2, 6.4 and 12.8 s. Without the back-off there would be one for each cut. */
const mostLists = 5;

/** F12: the watch is cut every second while 1,000 Jobs come and end. */
describe('F12, connections cut every second', () => {
  let bench: Bench;
  let service: MonitorProcess;
  let reader: JobReader;
  let store: Store;

  before(async () => {
    bench = await startBench({ controllers: false });
    service = await bench.prepare({ env: { NODE_OPTIONS: longestWaits } });
    await service.startReady();
    await service.untilLeading();
    reader = await JobReader.start({ url: bench.sim.url }, namespace);
    store = openBeside(bench.sqlite());
  });
  after(async () => {
    await reader.stop();
    await store.close();
    await bench.close();
  });

  test('each Job is recorded once, and the back-off bounds the lists', async (t) => {
    const owners = Array.from({ length: 20 }, (_, number) => putCronJob(bench.sim, `cut-${number}`));
    const lists = bench.sim.fault({
      target: listsAt(/^\/apis\/batch\/v1\/jobs$/),
      effect: { kind: 'slow', delayMs: 0 },
    });
    const watches = bench.sim.fault({
      target: { verb: 'watch', path: /^\/apis\/batch\/v1\/jobs$/ },
      effect: { kind: 'slow', delayMs: 0 },
    });
    const ended = new AbortController();
    const cutting = (async () => {
      for (; !ended.signal.aborted; await wait(1_000)) bench.proxy.reset();
    })();
    await Promise.all(
      Array.from({ length: jobs }, async (_, number) => {
        await wait((lastsMs * number) / jobs);
        const owner = owners[number % owners.length];
        if (!owner) return;
        const job = putJob(bench.sim, owner, { slotAt: slotNumber(number), status: runningStatus() });
        const { name } = job.metadata;
        await wait(900);
        const fails = number % 3 === 0;
        if (fails) putPod(bench.sim, job, { name: `${name}-x`, status: endedPodStatus(exitCode) });
        setJobStatus(bench.sim, name, fails ? failedStatus() : completeStatus());
      }),
    );
    ended.abort();
    await cutting;
    // The longest back-off is 30 s, for each of the watches; first tries after the cuts may fail too.
    const tookMs = await untilAllRecorded(reader, store, {
      scriptOf: () => ({ exitCodes: [exitCode], reasons: ['Error'] }),
      withinMs: 150_000,
    });
    assert.equal(reader.jobs().filter(({ end }) => end).length, jobs);
    t.diagnostic(`caught up after ${Math.round(tookMs)} ms, ${lists.hits} lists, ${watches.hits} watches of Jobs`);
    assert.ok(lists.hits <= mostLists, `${lists.hits} lists`);
    assert.ok(watches.hits <= 20, `${watches.hits} watches`);
  });
});
