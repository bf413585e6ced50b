import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { FakeClock, settle } from '@cronjob-monitor/shared/testing';

import { BeatGuard } from './send-guard.ts';

function setUp(t: TestContext) {
  const clock = new FakeClock();
  const term = new AbortController();
  const state = { write: async () => {}, failures: 0, written: 0 };
  const guard = new BeatGuard({
    write: async () => {
      await state.write();
      state.written++;
    },
    onFailure: () => void state.failures++,
    sentMs: clock.monotonicMs(),
    earlierEndMs: clock.monotonicMs(),
    everyMs: 1_000,
    clock,
  });
  t.after(async () => {
    term.abort();
    await clock.advance(20_000);
    await settle();
    assert.equal(clock.sleepers, 0);
  });
  return { clock, state, guard, term, start: () => guard.start(term.signal) };
}

test('a leader that beats may begin to send; one whose beats fail may not after 2 s, and may again with the next', async (t) => {
  const { clock, state, guard, term, start } = setUp(t);
  start();
  await clock.advance(10_000);
  assert.equal(guard.isOpen(), true);
  state.write = async () => Promise.reject(new Error('away'));
  await clock.advance(1_900);
  assert.equal(guard.isOpen(), true);
  await clock.advance(200);
  assert.equal(guard.isOpen(), false);
  assert.ok(state.failures > 0);
  let opened = false;
  void guard.whenOpen(term.signal).then(() => (opened = true));
  await clock.advance(3_000);
  assert.equal(opened, false);
  state.write = async () => {};
  await clock.advance(1_000);
  assert.equal(opened, true);
});

test('a beat counts from when it was sent: one that was acknowledged after 3 s opens nothing', async (t) => {
  const { clock, state, guard, start } = setUp(t);
  state.write = () => clock.sleep(3_000);
  start();
  await clock.advance(10_000);
  assert.ok(state.written >= 3);
  assert.equal(guard.isOpen(), false);
});

test('who waits for it is woken by the end of the term', async (t) => {
  const { clock, state, guard, term, start } = setUp(t);
  state.write = async () => Promise.reject(new Error('away'));
  start();
  await clock.advance(5_000);
  const waiting = guard.whenOpen(term.signal);
  term.abort();
  await waiting;
});

test('a beat that is under way is written before a stop is over, and none comes after', async (t) => {
  const { clock, state, guard, start } = setUp(t);
  state.write = () => clock.sleep(500);
  start();
  await clock.advance(1_100);
  let isStopped = false;
  const stopped = guard.stop().then(() => (isStopped = true));
  await clock.advance(300);
  assert.equal(isStopped, false);
  await clock.advance(200);
  await stopped;
  const { written } = state;
  await clock.advance(5_000);
  assert.equal(state.written, written);
});
