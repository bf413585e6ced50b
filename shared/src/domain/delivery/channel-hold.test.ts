import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelAfter, type ChannelAnswer, type ChannelHold } from './channel-hold.ts';

const minuteMs = 60_000;
const fresh: ChannelHold = { hold: undefined, untilAt: undefined, step: 0, failuresInRow: 0 };
const after = (answers: readonly ChannelAnswer[], from = fresh): ChannelHold =>
  answers.reduce((hold, answer) => channelAfter(hold, answer, 0), from);
const fails = (times: number): ChannelAnswer[] => Array.from({ length: times }, () => 'failed');

test('five failures in a row open the circuit for 30 s, four do not', () => {
  assert.equal(after(fails(4)).hold, undefined);
  assert.deepEqual(after(fails(5)), { hold: 'circuit', untilAt: 30_000, step: 1, failuresInRow: 5 });
});

test('each probe in vain doubles the wait, up to ten minutes', () => {
  const waits = [6, 7, 9, 10, 20].map((times) => after(fails(times)).untilAt);
  assert.deepEqual(waits, [minuteMs, 2 * minuteMs, 8 * minuteMs, 10 * minuteMs, 10 * minuteMs]);
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
