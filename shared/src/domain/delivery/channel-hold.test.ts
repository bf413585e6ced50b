import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelAfter, type ChannelAnswer, type ChannelHold } from './channel-hold.ts';
import { minuteMs } from '../duration.ts';

const fresh: ChannelHold = { hold: undefined, untilAt: undefined, step: 0, failuresInRow: 0 };
const after = (answers: readonly ChannelAnswer[], from = fresh, now = 0): ChannelHold =>
  answers.reduce((hold, answer) => channelAfter(hold, answer, now), from);
const fails = (times: number): ChannelAnswer[] => Array.from({ length: times }, () => 'failed');

test('five failures in a row open the circuit for 30 s, four do not', () => {
  assert.equal(after(fails(4)).hold, undefined);
  assert.deepEqual(after(fails(5)), { hold: 'circuit', untilAt: 30_000, step: 1, failuresInRow: 5 });
});

test('each probe in vain doubles the wait, up to ten minutes', () => {
  const waits: number[] = [];
  let hold = after(fails(5));
  for (let probe = 0; probe < 6; probe++) {
    const now = hold.untilAt ?? NaN;
    hold = channelAfter(hold, 'failed', now);
    waits.push((hold.untilAt ?? NaN) - now);
  }
  assert.deepEqual(
    waits,
    [1, 2, 4, 8, 10, 10].map((minutes) => minutes * minuteMs),
  );
});

test('what was on its way as the circuit opened is no probe: many that fail at once wait no longer than five', () => {
  assert.deepEqual(after(fails(40)), { hold: 'circuit', untilAt: 30_000, step: 1, failuresInRow: 40 });
  const probed = after(fails(1), after(fails(40)), 30_000);
  assert.deepEqual(after(fails(8), probed, 31_000), { ...probed, failuresInRow: 49 });
});

test('a success lifts any hold', () => {
  for (const answer of ['park', 'invalid', 'failed'] as const) {
    assert.deepEqual(after([answer, 'accepted'], after(fails(4))), fresh);
  }
});

test('what must be mended is probed every 15 minutes, other failures meanwhile change nothing about it', () => {
  assert.deepEqual(after(['park']), { hold: 'parked', untilAt: 15 * minuteMs, step: 0, failuresInRow: 1 });
  assert.equal(after(['park', ...fails(6)]).hold, 'parked');
});

test('what cannot be tried counts once and is looked at every minute', () => {
  assert.deepEqual(after(['invalid', 'invalid']), { hold: 'invalid', untilAt: minuteMs, step: 0, failuresInRow: 1 });
});

test('nothing tried, nothing learned', () => assert.deepEqual(after(['harmless'], after(fails(3))), after(fails(3))));
