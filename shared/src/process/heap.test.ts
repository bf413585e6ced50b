import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/index.ts';
import { HeapHaste } from './run-process.ts';

test('haste lasts for its time after it was last asked for, and then the heap is kept small again', async () => {
  const clock = new FakeClock();
  const haste = new HeapHaste(clock, 10_000);
  const { signal } = new AbortController();
  haste.hurry(signal);
  await clock.advance(9_000);
  haste.hurry(signal);
  await clock.advance(9_000);
  assert.equal(haste.isHasty, true);
  await clock.advance(1_000);
  assert.deepEqual([haste.isHasty, clock.sleepers], [false, 0]);
});

test('haste ends at once with what wanted it, and does not begin after its end', async () => {
  const clock = new FakeClock();
  const haste = new HeapHaste(clock, 10_000);
  const over = new AbortController();
  haste.hurry(over.signal);
  over.abort();
  await clock.advance(0);
  assert.deepEqual([haste.isHasty, clock.sleepers], [false, 0]);
  haste.hurry(over.signal);
  assert.equal(haste.isHasty, false);
});
