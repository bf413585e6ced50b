import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { createKeptFigures } from './kept-figures.ts';

function start() {
  const gates: PromiseWithResolvers<void>[] = [];
  let value = 1;
  const kept = createKeptFigures<number>({
    clock: new FakeClock(),
    count: async (ids) => {
      const counted = new Map(ids.map((id) => [id, value]));
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return counted;
    },
  });
  const read = async (isKnown = true) => (await kept.read([7], { withPrevious: false }, () => isKnown)).get(7);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    kept,
    read,
    change: () => void value++,
    counted: () => gates.length,
    /** Lets the count that runs end. */
    open: async () => {
      await turn();
      gates.at(-1)?.resolve();
      await turn();
    },
  };
}

test('figures that were forgotten while they were counted are given to who asked before, and not kept', async () => {
  const { kept, read, change, counted, open } = start();
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
  assert.equal(counted(), 2);
});

test('nothing that was counted before all was forgotten is kept', async () => {
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

test('those of unknown CronJobs are counted each time: nobody tells of their changes', async () => {
  const { read, counted, open } = start();
  for (const times of [1, 2]) {
    const asked = read(false);
    await open();
    await asked;
    assert.equal(counted(), times);
  }
});
