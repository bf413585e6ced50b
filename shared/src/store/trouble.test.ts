import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/index.ts';
import { StoreError, type StoreErrorCode } from './store-error.ts';
import { createTroubleWatch } from './trouble.ts';

function aWatch() {
  const clock = new FakeClock();
  const watch = createTroubleWatch(clock);
  const fail = (code: StoreErrorCode) => watch.failed(new StoreError(code, 'refused'));
  return { clock, watch, fail, told: () => watch.current()?.error.code };
}

test('an outage lasts from its first failure to the next answer', async () => {
  const { clock, watch, fail, told } = aWatch();
  fail('unavailable');
  const beganMs = clock.monotonicMs();
  await clock.advance(5_000);
  fail('unavailable');
  assert.equal(watch.current()?.sinceMs, beganMs);
  assert.equal(watch.hasAnswered(), false);
  watch.answered();
  assert.deepEqual([told(), watch.hasAnswered()], [undefined, true]);
});

test('a database that takes no writes is back with a write that lasts, not with an answer', () => {
  const { watch, fail, told } = aWatch();
  fail('full');
  watch.answered();
  fail('conflict');
  assert.equal(told(), 'full');
  watch.wrote();
  assert.equal(told(), undefined);
});

test('a table that is missing is an answer: the database can be reached', () => {
  const { watch, fail, told } = aWatch();
  fail('unavailable');
  fail('schema');
  assert.deepEqual([told(), watch.hasAnswered()], [undefined, true]);
});
