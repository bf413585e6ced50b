import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilAllRecorded } from './checker/index.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, putCronJob, putJob, runningStatus, setJobStatus, slotNumber } from './harness/objects.ts';
import { startServiceBench, type ServiceBench } from './harness/service-bench.ts';

const reconnectsWithinMs = 90_000;
/** From the reconnection until what was missed is read and written. */
const catchesUpWithinMs = 5_000;
/** Two at once, since each does nothing but wait. */
const atOnce = Math.min(2, timesOf({ ci: 2, soak: 10 }));

/** F14: connections that nothing comes through any more, and that stay open. */
describe('F14, black-holed watches', () => {
  let benches: ServiceBench[] = [];
  before(async () => {
    benches = await Promise.all(Array.from({ length: atOnce }, () => startServiceBench({ controllers: false })));
  });
  after(async () => {
    await Promise.all(benches.map((bench) => bench.close()));
  });

  for (let round = 0; round < timesOf({ ci: 2, soak: 10 }) / atOnce; round++) {
    test(`they are given up after 90 s, and what they hid is recorded (round ${round + 1})`, async (t) => {
      const took = await Promise.all(benches.map((bench) => blackHole(bench, round)));
      for (const ms of took) {
        t.diagnostic(`recorded after ${Math.round(ms)} ms`);
        assert.ok(ms < reconnectsWithinMs + catchesUpWithinMs);
        assert.ok(ms > 10_000, 'the hole held for a while');
      }
    });
  }
});

/** Swallows what runs over every connection of now; later ones work. Returns when all that happened meanwhile is recorded. */
async function blackHole({ sim, proxy, reader, store }: ServiceBench, round: number): Promise<number> {
  const owner = putCronJob(sim, `hidden-${round}`);
  const job = putJob(sim, owner, { slotAt: slotNumber(round), status: runningStatus() });
  const over = reader.jobs().filter(({ end }) => end).length;
  await untilAllRecorded(reader, store, { over, withinMs: 10_000 });

  const lastBroken = proxy.total;
  proxy.inspect(({ connection }) => (connection < lastBroken ? 'drop' : 'pass'));
  setJobStatus(sim, job.metadata.name, completeStatus());
  const fresh = putCronJob(sim, `fresh-${round}`);
  putJob(sim, fresh, { slotAt: slotNumber(round), status: completeStatus() });
  return untilAllRecorded(reader, store, { over: over + 2, withinMs: reconnectsWithinMs + catchesUpWithinMs });
}
