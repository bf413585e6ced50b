import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock, settle } from '../testing/index.ts';
import { repeat, systemClock } from './clock.ts';

test('the machine’s clock sleeps as long as asked, and not shorter', async () => {
  const before = systemClock.monotonicMs();
  await systemClock.sleep(20);
  const elapsedMs = systemClock.monotonicMs() - before;
  assert.ok(elapsedMs >= 20, `${elapsedMs} ms`);
  assert.ok(Math.abs(systemClock.now() - Date.now()) < 1000);
});

test('a sleep ends with the reason of its signal, at once, before it and during it', async () => {
  const reason = new Error('stopping');
  await assert.rejects(systemClock.sleep(60_000, AbortSignal.abort(reason)), reason);
  await assert.rejects(systemClock.sleep(0, AbortSignal.abort(reason)), reason);
  const controller = new AbortController();
  const sleeping = systemClock.sleep(60_000, controller.signal);
  controller.abort(reason);
  await assert.rejects(sleeping, reason);
  assert.equal(process.getActiveResourcesInfo().includes('Timeout'), false);
});

test('a sleep that is longer than a timer can be does not end at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const set = t.mock.method(globalThis, 'setTimeout');
  const controller = new AbortController();
  const sleeping = systemClock.sleep(2 ** 31 + 1000, controller.signal);
  assert.equal(set.mock.calls[0]?.arguments[1], 2 ** 31 - 1);
  // The first piece ends early, as the mocked time runs ahead of the monotonic clock: what is left is armed again.
  t.mock.timers.tick(2 ** 31 - 1);
  await settle();
  assert.equal(set.mock.callCount(), 2);
  controller.abort(new Error('enough'));
  await assert.rejects(sleeping, /enough/);
});

/** Both clocks keep the same beat: the real one on a sleep that a test moves, and the fake one by itself. */
const beats = {
  'the machine’s clock': (clock: FakeClock) => (ms: number, fn: () => void | Promise<void>, signal: AbortSignal) =>
    repeat(clock, ms, fn, signal),
  'the clock of tests': (clock: FakeClock) => clock.every.bind(clock),
};

for (const [name, everyOf] of Object.entries(beats)) {
  /** Beats of 10 s; `run` says what one does. */
  const aBeat = (run: (clock: FakeClock) => void | Promise<void>) => {
    const clock = new FakeClock();
    const startMs = clock.monotonicMs();
    const at: number[] = [];
    const controller = new AbortController();
    const beat = () => {
      at.push(clock.monotonicMs() - startMs);
      return run(clock);
    };
    everyOf(clock)(10_000, beat, controller.signal);
    return { clock, at, controller };
  };

  test(`${name} repeats a call first after its interval, and ends with the signal`, async () => {
    const { clock, at, controller } = aBeat(() => {});
    await clock.advance(30_000);
    controller.abort();
    await clock.advance(30_000);
    assert.deepEqual(at, [10_000, 20_000, 30_000]);
    assert.equal(clock.sleepers, 0);
  });

  test(`${name} keeps the beat however long a call takes, and never runs one twice at once`, async () => {
    const { clock, at, controller } = aBeat((clock) => clock.sleep(3000));
    await clock.advance(35_000);
    assert.deepEqual(at, [10_000, 20_000, 30_000]);
    controller.abort();
    await clock.advance(10_000);

    const slow = aBeat((clock) => clock.sleep(25_000));
    await slow.clock.advance(80_000);
    assert.deepEqual(slow.at, [10_000, 40_000, 70_000]);
    slow.controller.abort();
    await slow.clock.advance(100_000);
  });

  test(`${name} repeats a call that throws`, async (t) => {
    t.mock.method(process, 'emitWarning', () => {});
    const { clock, at, controller } = aBeat(() => {
      throw new Error('broken');
    });
    await clock.advance(20_000);
    controller.abort();
    await clock.advance(0);
    assert.equal(at.length, 2);
  });
}

test('what a repeated call throws is told', async (t) => {
  const warn = t.mock.method(process, 'emitWarning', () => {});
  const clock = new FakeClock();
  const controller = new AbortController();
  const broken = () => Promise.reject(new Error('broken'));
  repeat(clock, 1000, broken, controller.signal);
  await clock.advance(1000);
  controller.abort();
  assert.equal(warn.mock.calls[0]?.arguments[0], 'a repeated task failed: broken');
});
