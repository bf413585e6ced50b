import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { createKeptFacts } from './kept-fleet.ts';

function start() {
  const gates: PromiseWithResolvers<void>[] = [];
  let value = 1;
  const kept = createKeptFacts<number>(new FakeClock(), async (ids) => {
    const found = new Map(ids.map((id) => [id, value]));
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return found;
  });
  const read = async (isKnown = true) => (await kept.read([7], () => isKnown)).get(7);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    kept,
    read,
    change: () => void value++,
    reads: () => gates.length,
    /** Lets the read that runs end. */
    open: async () => {
      await turn();
      gates.at(-1)?.resolve();
      await turn();
    },
  };
}

test('facts that were forgotten while they were read are given to the caller who asked before, and not kept', async () => {
  const { kept, read, change, reads, open } = start();
  const early = read();
  await new Promise((resolve) => setImmediate(resolve));
  change();
  kept.forget([7]);
  await open();
  assert.equal(await early, 1);
  const late = read();
  await open();
  assert.equal(await late, 2);
  assert.equal(await read(), 2);
  assert.equal(reads(), 2);
});

test('nothing that was read before all was forgotten is kept', async () => {
  const { kept, read, change, open } = start();
  const early = read();
  await new Promise((resolve) => setImmediate(resolve));
  change();
  kept.forgetAll();
  await open();
  assert.equal(await early, 1);
  const late = read();
  await open();
  assert.equal(await late, 2);
});

test('facts of unknown CronJobs are read each time: no change of them is told', async () => {
  const { read, reads, open } = start();
  for (const times of [1, 2]) {
    const asked = read(false);
    await open();
    await asked;
    assert.equal(reads(), times);
  }
});
