import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/index.ts';
import { createRateLimiter } from './exchange.ts';

const never = new AbortController().signal;

/** When each of so many calls that come at once may go on, in milliseconds from now. */
async function passTimes(
  clock: FakeClock,
  take: () => Promise<void>,
  count: number,
  withinMs: number,
): Promise<number[]> {
  const startMs = clock.monotonicMs();
  const times: number[] = [];
  for (let call = 0; call < count; call++)
    take().then(
      () => times.push(clock.monotonicMs() - startMs),
      () => times.push(-1),
    );
  await clock.advance(withinMs);
  return times;
}

test('a burst passes at once, then the rate holds, in the order of coming', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ perSecond: 20, burst: 4 }, clock);
  assert.deepEqual(await passTimes(clock, () => limiter.take(never), 7, 1000), [0, 0, 0, 0, 50, 100, 150]);
  assert.equal(clock.sleepers, 0);
});

test('a pause fills the burst again, and no more than that', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ perSecond: 10, burst: 2 }, clock);
  await passTimes(clock, () => limiter.take(never), 5, 1000);
  await clock.advance(60_000);
  assert.deepEqual(await passTimes(clock, () => limiter.take(never), 4, 1000), [0, 0, 100, 200]);
});

test('over a minute the rate is kept exactly', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ perSecond: 20, burst: 40 }, clock);
  const times = await passTimes(clock, () => limiter.take(never), 600, 60_000);
  assert.equal(times.filter((ms) => ms === 0).length, 40);
  assert.equal(times.at(-1), 28_000);
});

test('who is aborted while waiting is told so', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ perSecond: 1, burst: 1 }, clock);
  await limiter.take(never);
  const stop = new AbortController();
  const waiting = limiter.take(stop.signal);
  stop.abort(new Error('stopping'));
  await assert.rejects(waiting, /stopping/);
  await assert.rejects(limiter.take(stop.signal), /stopping/);
});

test('while the server wants a pause nothing passes, those that waited included; then the rate holds without a burst', async () => {
  const clock = new FakeClock();
  const limiter = createRateLimiter({ perSecond: 10, burst: 2 }, clock);
  const startMs = clock.monotonicMs();
  const passed: number[] = [];
  const call = (): void => void limiter.take(never).then(() => passed.push(clock.monotonicMs() - startMs));
  for (let number = 0; number < 4; number++) call();
  await clock.advance(50);
  limiter.pause(1_000);
  call();
  await clock.advance(2_000);
  assert.deepEqual(passed, [0, 0, 1_150, 1_250, 1_350]);
});
