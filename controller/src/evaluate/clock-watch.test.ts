import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockProblems, createClockWatch } from './clock-watch.ts';

function aWatch() {
  const at = { wall: 1_000_000, monotonicMs: 5_000, databaseMs: 0, serverMs: 0 };
  const steps: number[] = [];
  const watch = createClockWatch({
    // No timer of these tests runs by it.
    clock: { now: () => at.wall, monotonicMs: () => at.monotonicMs, sleep: () => Promise.resolve(), every: () => {} },
    databaseOffsetMs: () => at.databaseMs,
    serverOffsetMs: () => at.serverMs,
    onStepped: (byMs) => steps.push(byMs),
  });
  const pass = (ms: number, wallMs = ms): void => {
    at.wall += wallMs;
    at.monotonicMs += ms;
  };
  return { at, watch, pass, steps };
}

test('a clock that was set postpones, for all who ask within two seconds', () => {
  const { watch, pass, steps } = aWatch();
  assert.equal(watch(), undefined);
  pass(1_000, 3_600_000);
  assert.equal(watch(), 'clockStepped');
  pass(1_000);
  assert.equal(watch(), 'clockStepped');
  pass(1_000);
  assert.equal(watch(), undefined);
  assert.deepEqual(steps, [3_599_000], 'told once, and by how much');
});

test('a clock far from that of the database postpones as long as it is', () => {
  const { at, watch, pass } = aWatch();
  at.databaseMs = 31_000;
  assert.equal(watch(), 'clockOff');
  pass(60_000);
  assert.equal(watch(), 'clockOff');
  at.databaseMs = 0;
  assert.equal(watch(), undefined);
});

test('so does one far from that of the API server', () => {
  const { at, watch } = aWatch();
  at.serverMs = -30_001;
  assert.equal(watch(), 'clockOff');
  at.serverMs = -30_000;
  assert.equal(watch(), undefined);
});

test('health tells whose clock is off, by how much and which way', () => {
  assert.deepEqual(clockProblems({ serverMs: 30_000, databaseMs: undefined }), []);
  const [server, database] = clockProblems({ serverMs: 90_400, databaseMs: -31_000 });
  assert.match(server?.sentence ?? '', /clock of the API server is 1m30s ahead of/);
  assert.match(database?.sentence ?? '', /clock of the database is 31s behind/);
});
