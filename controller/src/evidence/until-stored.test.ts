import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { createUntilStored } from './until-stored.ts';

const away = new Error('canceling statement due to statement timeout');
const isAway = (error: unknown): boolean => error === away;

test('what a slow database did not take is written again until it does', async (t) => {
  const clock = new FakeClock();
  const untilStored = createUntilStored({ isAway, clock, signal: t.signal });
  const tries: number[] = [];
  const beganAt = clock.now();
  const stored = untilStored(10, () => {
    tries.push(clock.now() - beganAt);
    return tries.length < 4 ? Promise.reject(away) : Promise.resolve('stored');
  });
  for (let second = 0; second < 8; second++) await clock.advance(1_000);
  assert.equal(await stored, 'stored');
  assert.deepEqual(tries, [0, 1_000, 3_000, 7_000]);
});

test('what is wrong with the work itself is not repeated', async (t) => {
  const untilStored = createUntilStored({ isAway, clock: new FakeClock(), signal: t.signal });
  let tries = 0;
  await assert.rejects(
    untilStored(10, () => {
      tries += 1;
      return Promise.reject(new TypeError('no such column'));
    }),
    TypeError,
  );
  assert.equal(tries, 1);
});

test('what waits takes no more memory than it may: what comes then is let go, and room is made as things are stored', async (t) => {
  const clock = new FakeClock();
  const untilStored = createUntilStored({ isAway, clock, signal: t.signal }, 15);
  let isBack = false;
  const work = (): Promise<string> => (isBack ? Promise.resolve('stored') : Promise.reject(away));
  const first = untilStored(10, work);
  await assert.rejects(untilStored(10, work), away);
  isBack = true;
  await clock.advance(1_000);
  assert.equal(await first, 'stored');
  isBack = false;
  const next = untilStored(10, work);
  isBack = true;
  await clock.advance(1_000);
  assert.equal(await next, 'stored');
});

test('the end of a term ends the wait', async () => {
  const clock = new FakeClock();
  const term = new AbortController();
  const untilStored = createUntilStored({ isAway, clock, signal: term.signal });
  const stored = untilStored(1, () => Promise.reject(away));
  await clock.advance(500);
  term.abort(new Error('the term is over'));
  await assert.rejects(stored, /the term is over/);
});
