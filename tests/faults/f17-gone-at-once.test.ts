import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { listStoredRuns, untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { putCronJob, putJob, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

const jobs = 1_000;
const lastsMs = 25_000;
const exitCode = 4;
const recordedShare = 0.999;

/** F17: Jobs that are removed as soon as they have ended, by their own wish or because no history is kept. */
describe('F17, Jobs that are gone at once', () => {
  const bench = benchOfSuite();

  for (let time = 1; time <= timesOf({ ci: 1, soak: 10 }); time++) {
    test(`of 1,000 with TTL 0 or history limit 0 at least 999 are recorded, the rest as unobserved (${time})`, async (t) => {
      const { sim, reader, store } = bench();
      const ttl = { ttlSecondsAfterFinished: 0 };
      const limits = { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 };
      const owners = Array.from({ length: 40 }, (_, number) =>
        putCronJob(sim, `gone-${time}-${number}`, number % 2 === 0 ? {} : { cron: limits }),
      );
      await Promise.all(
        Array.from({ length: jobs }, async (_, number) => {
          await wait((lastsMs * number) / jobs);
          const at = number % owners.length;
          const owner = owners[at];
          if (!owner) return;
          putJob(sim, owner, {
            slotAt: slotNumber(number),
            play: { outcome: number % 4 < 2 ? 'success' : `exit:${exitCode}`, seconds: '0.5' },
            spec: at % 2 === 0 ? ttl : {},
          });
        }),
      );
      const over = time * jobs;
      await untilAllRecorded(reader, store, {
        over,
        scriptOf: () => ({ exitCodes: [exitCode], reasons: ['Error'] }),
        unobserved: Math.floor(jobs * (1 - recordedShare)) * time,
        withinMs: 60_000,
      });
      const rows = await listStoredRuns(store);
      const told = rows.filter(({ status }) => status === 'success' || status === 'failed').length;
      const unobserved = rows.filter(({ status }) => status === 'unobserved').length;
      t.diagnostic(`${told} recorded, ${unobserved} unobserved`);
      assert.ok(told >= over * recordedShare);
      assert.equal(told + unobserved, over);
      assert.ok(
        reader.jobs().every(({ goneAt }) => goneAt !== undefined),
        'all of them are gone',
      );
    });
  }

  test('one whose watch of pods is behind that of Jobs keeps its exit code, although the Job is gone when it is told', async () => {
    const { sim, proxy, reader, store } = bench();
    const over = reader.jobs().length + 1;
    const owner = putCronJob(sim, 'told-late');
    const play = { outcome: `exit:${exitCode}`, seconds: '3' };
    const { uid } = putJob(sim, owner, { slotAt: slotNumber(0), play, spec: { ttlSecondsAfterFinished: 0 } }).metadata;
    const rowOfRun = async () => (await listStoredRuns(store)).find(({ jobUid }) => jobUid === uid);
    await until('its pod runs', () => reader.jobs().some((job) => job.uid === uid && job.played));
    const slow = sim.fault({
      target: { verb: 'watch', path: '/pods' },
      effect: { kind: 'slow', delayMs: 8_000 },
    });
    proxy.reset();
    await until('the run is recorded', async () => (await rowOfRun()) !== undefined);
    assert.equal((await rowOfRun())?.exitCode, undefined, 'its pods are not heard of yet');
    slow.remove();
    await untilAllRecorded(reader, store, {
      over,
      scriptOf: () => ({ exitCodes: [exitCode], reasons: ['Error'] }),
      unobserved: Math.floor(over * (1 - recordedShare)),
      withinMs: 30_000,
    });
  });
});
