import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { readNumber } from '../store/rows.ts';
import { untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases, type KillableServer } from './harness/database-servers.ts';
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
import { benchOfSuite } from './harness/service-bench.ts';

const jobsPerSecond = 25;
const goesOnWithinMs = 10_000;
const exitCode = 5;
const counts = { postgres: { ci: 3, soak: 20 }, mysql: { ci: 1, soak: 20 } } as const;

/** F31: the database is killed while runs are written to it, and started again. */
for (const { name, skip, start } of killableDatabases()) {
  describe(`F31, ${name} killed under load`, { skip }, () => {
    let server: KillableServer;
    const bench = benchOfSuite({ controllers: false }, async () => {
      server = await start();
      return { entryPoint: 'controller', storage: server.settings, settings: server.settings };
    });
    after(() => server.remove());
    let slots = 0;
    let over = 0;

    for (let time = 1; time <= timesOf(counts[name]); time++) {
      test(`every Job is recorded once, and work goes on within 10 s (${time})`, async (t) => {
        const { sim, service, reader, store } = bench();
        const owners = Array.from({ length: 10 }, (_, number) => putCronJob(sim, `killed-${time}-${number}`));
        const enough = new AbortController();
        const load = (async () => {
          for (; !enough.signal.aborted; await wait(1_000 / jobsPerSecond)) {
            const owner = owners[slots % owners.length];
            if (!owner) continue;
            const job = putJob(sim, owner, { slotAt: slotNumber(++slots), status: runningStatus() });
            const fails = slots % 3 === 0;
            if (fails) putPod(sim, job, { name: `${job.metadata.name}-x`, status: endedPodStatus(exitCode) });
            setJobStatus(sim, job.metadata.name, fails ? failedStatus() : completeStatus());
            over++;
          }
        })();
        const recorded = (): Promise<number> =>
          readNumber(store, 'select count(*) as n from executions').catch(() => NaN); // it is away
        const before = over;
        await until('the load is being recorded', async () => (await recorded()) > before + jobsPerSecond);

        await server.kill();
        await wait(3_000);
        await server.restart();
        const upAt = performance.now();
        let seen = await recorded();
        await until('it answers', async () => !Number.isNaN((seen = await recorded())));
        await until('work goes on', async () => (await recorded()) > seen, 30_000);
        const tookMs = performance.now() - upAt;
        enough.abort();
        await load;

        const caughtUpMs = await untilAllRecorded(reader, store, {
          over,
          scriptOf: () => ({ exitCodes: [exitCode], reasons: ['Error'] }),
          withinMs: 30_000,
        });
        t.diagnostic(
          `work went on after ${Math.round(tookMs)} ms, all was recorded ${Math.round(caughtUpMs)} ms later`,
        );
        assert.ok(tookMs <= goesOnWithinMs);
        assert.equal(service.said('this replica leads').length, 1, 'the lead is kept');
      });
    }
  });
}
