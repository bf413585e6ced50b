import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationText, inUnit, spelledOut, unitOf } from './duration.ts';
import { ordinal, percentText, plural } from './figures.ts';
import { relativeText, shortTimeText, timeText } from './time.ts';

for (const [seconds, text] of [
  [null, 'no data'],
  [0, '0 s'],
  [0.34, '340 ms'],
  [59, '59 s'],
  [60, '1 min'],
  [184, '3 min 4 s'],
  [3_600, '1 h'],
  [3_605, '1 h'],
  [3_725, '1 h 2 min'],
  [93_600, '1 d 2 h'],
  [86_400, '1 d'],
] as const) {
  test(`${seconds} seconds read "${text}"`, () => assert.equal(durationText(seconds), text));
}

test('what was measured is told in the unit of its limit', () => {
  assert.equal(unitOf(90_000), 'h');
  assert.equal(inUnit(95_000, unitOf(90_000)), '26 h');
  assert.equal(unitOf(2_700), 'min');
  assert.equal(unitOf(604_800), 'd');
  assert.equal(unitOf(90), 's');
});

test('a rate is 100.0 only if nothing failed, and 0.0 only if nothing succeeded', () => {
  assert.deepEqual([100, 99.99, 98.64, 0.01, 0, null].map(percentText), [
    '100.0 %',
    '99.9 %',
    '98.6 %',
    '0.1 %',
    '0.0 %',
    'no data',
  ]);
});

test('counts and ordinals read as English', () => {
  assert.deepEqual([plural(1, 'run'), plural(1180, 'run')], ['1 run', '1,180 runs']);
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 102].map(ordinal), [
    '1st',
    '2nd',
    '3rd',
    '4th',
    '11th',
    '12th',
    '13th',
    '21st',
    '102nd',
  ]);
});

test('a sentence of the service tells durations in words, and leaves quotes, quantities and addresses alone', () => {
  const rows = [
    ['no answer within 15s', 'no answer within 15 s'],
    ['ran for 1h9m0s (limit 25m)', 'ran for 1 h 9 min (limit 25 min)'],
    ['"90m" is no duration', '"90m" is no duration'],
    ['Killed at 512Mi on node-4m by a/5m', 'Killed at 512Mi on node-4m by a/5m'],
  ] as const;
  for (const [sentence, told] of rows) assert.equal(spelledOut(sentence), told);
});

test('an instant is told in the chosen zone', () => {
  assert.equal(timeText('2026-11-21T01:30:03.000Z', 'Europe/Zurich'), '2026-11-21 02:30:03');
  const now = Date.parse('2026-11-21T12:00:00Z');
  assert.equal(shortTimeText('2026-11-21T01:30:03.000Z', 'UTC', now), '01:30');
  assert.equal(shortTimeText('2026-11-20T01:30:03.000Z', 'UTC', now), '20 Nov 01:30');
});

test('a span reads on a page as it does in a message', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  assert.equal(relativeText(now - 5_000, now), '5 s ago');
  assert.equal(relativeText(now - 125_000, now), '2 min 5 s ago');
  assert.equal(relativeText(now - 4 * 3_600_000 - 30_000, now), '4 h ago');
  assert.equal(relativeText(now + 6 * 3_600_000 + 12 * 60_000, now), 'in 6 h 12 min');
  assert.equal(relativeText(now - 54 * 3_600_000, now), '2 d 6 h ago');
  assert.equal(relativeText(now - 34 * 3_600_000, now), '34 h ago');
});
