import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';

import { Heartbeat } from './heartbeat.ts';

function setUp(t: TestContext, write: () => Promise<void> = async () => {}) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const stop = new AbortController();
  const state = { leading: false, failures: 0 };
  const beats: { readonly leading: boolean; readonly atMs: number }[] = [];
  const startedAtMs = clock.monotonicMs();
  const heartbeat = new Heartbeat({
    clock,
    logger,
    leaseMs: 15_000,
    onFailure: () => (state.failures += 1),
    isLeading: () => state.leading,
    beat: (leading) => {
      beats.push({ leading, atMs: clock.monotonicMs() - startedAtMs });
      return write();
    },
  });
  t.after(async () => {
    stop.abort();
    await settle();
    assert.equal(clock.sleepers, 0);
  });
  return { clock, logger, state, beats, heartbeat, start: () => heartbeat.start(stop.signal) };
}

test('beats at once, then every third of the lease time, saying whether it leads', async (t) => {
  const { clock, state, beats, start } = setUp(t);
  start();
  await clock.advance(5_000);
  state.leading = true;
  await clock.advance(10_000);
  assert.deepEqual(beats, [
    { leading: false, atMs: 0 },
    { leading: false, atMs: 5_000 },
    { leading: true, atMs: 10_000 },
    { leading: true, atMs: 15_000 },
  ]);
});

test('the last beat says that it does not lead, also after one that hung', async (t) => {
  let release = () => {};
  const { clock, state, beats, heartbeat, start } = setUp(t, () => new Promise((resolve) => (release = resolve)));
  state.leading = true;
  start();
  await clock.advance(60_000);
  assert.equal(beats.length, 1, 'no second one is begun while the first one waits');
  const stopped = heartbeat.stop();
  for (let n = 0; n < 5; n += 1) {
    release();
    await settle();
  }
  await stopped;
  assert.equal(beats.at(-1)?.leading, false);
  const count = beats.length;
  await clock.advance(60_000);
  assert.equal(beats.length, count);
});

test('a failing one is logged once, and when it works again; its listener hears of each', async (t) => {
  let isAway = true;
  const { clock, logger, state, beats, start } = setUp(t, async () => {
    if (isAway) throw new Error('away');
  });
  start();
  await clock.advance(60_000);
  isAway = false;
  await clock.advance(10_000);
  assert.equal(beats.length, 15);
  assert.equal(state.failures, 13);
  assert.deepEqual(
    logger.lines.map(({ level }) => level),
    ['warn', 'info'],
  );
});
