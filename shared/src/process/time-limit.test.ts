import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/index.ts';
import { startTimeLimit, TimeLimitError, withinLimit } from './time-limit.ts';

const never = new Promise<never>(() => {});

test('work that ends in time gives its answer, and nothing waits any more', async () => {
  const clock = new FakeClock();
  assert.equal(await withinLimit({ clock, ms: 1_000 }, async () => 'answer'), 'answer');
  const error = new Error('of the work');
  await assert.rejects(
    withinLimit({ clock, ms: 1_000 }, async () => {
      throw error;
    }),
    error,
  );
});

test('work that heeds no signal ends with its time all the same, and the signal says why', async () => {
  const clock = new FakeClock();
  let given: AbortSignal | undefined;
  const work = withinLimit({ clock, ms: 1_000 }, (signal) => {
    given = signal;
    return never;
  });
  const ends = assert.rejects(work, TimeLimitError);
  await clock.advance(999);
  assert.equal(given?.aborted, false);
  await clock.advance(1);
  await ends;
  assert.match(String(given?.reason), /no answer within 1 s/);
});

test('the signal of the caller ends the work with its own reason, also before it begins', async () => {
  const clock = new FakeClock();
  const caller = new AbortController();
  const reason = new Error('the term is over');
  const work = withinLimit({ clock, ms: 1_000, signal: caller.signal }, () => never);
  const ends = assert.rejects(work, reason);
  caller.abort(reason);
  await ends;
  let begun = false;
  const late = withinLimit({ clock, ms: 1_000, signal: caller.signal }, async () => {
    begun = true;
  });
  await assert.rejects(late, reason);
  assert.equal(begun, false);
});

test('a limit that was ended passes no more', async () => {
  const clock = new FakeClock();
  const limit = startTimeLimit(clock, 1_000);
  limit.end();
  await clock.advance(2_000);
  assert.deepEqual([limit.passed, limit.signal.aborted], [false, false]);
});
