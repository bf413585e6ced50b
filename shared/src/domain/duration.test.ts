import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration, parseGoDuration, parseResourceDuration } from './duration.ts';

/** Text as `time.Duration.String` writes it, and its milliseconds. */
const goTexts: readonly (readonly [string, number])[] = [
  ['0s', 0],
  ['1ms', 1],
  ['250ms', 250],
  ['1s', 1_000],
  ['1.5s', 1_500],
  ['59.999s', 59_999],
  ['1m0s', 60_000],
  ['2m41s', 161_000],
  ['1h0m0s', 3_600_000],
  ['3h2m11s', 10_931_000],
  ['100h0m0.25s', 360_000_250],
];

test('writes durations as Go does', () => {
  for (const [text, ms] of goTexts) assert.equal(formatDuration(ms), text);
  assert.equal(formatDuration(-1_500), '-1.5s');
  assert.equal(formatDuration(0.4), '0s');
});

test('reads what it writes', () => {
  for (const [text, ms] of goTexts) assert.equal(parseDuration(text), ms);
});

test('reads fractions, several units, days and weeks', () => {
  assert.equal(parseDuration('1.5h'), 5_400_000);
  assert.equal(parseDuration('.5s'), 500);
  assert.equal(parseDuration('1w2d'), 777_600_000);
  assert.equal(parseDuration('1h30m500ms'), 5_400_500);
  assert.equal(parseDuration('2us'), 0.002);
});

test('refuses what has no unit, a sign, or blanks', () => {
  for (const text of ['', '0', '90', '-1s', '+1s', '1 s', ' 1s', '1s ', '1x', 's', '.s', '1.s.', '1h-1m', '1e3s']) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

/** Texts that Go's `time.ParseDuration` takes, and the nanoseconds it answers. */
const goDurations: readonly (readonly [string, bigint])[] = [
  ['0', 0n],
  ['-0', 0n],
  ['+5s', 5_000_000_000n],
  ['-1.5h', -5_400_000_000_000n],
  ['1h2m3s4ms5us6ns', 3_723_004_005_006n],
  ['1\u00b5s', 1_000n],
  ['1\u03bcs', 1_000n],
  ['5.s', 5_000_000_000n],
  ['.5s.5s', 1_000_000_000n],
  ['0.3333333333333333333h', 1_200_000_000_000n],
  ['0.100000000000000000000h', 360_000_000_000n],
  ['0.9223372036854775807h', 3_320_413_933_267n],
  [`0.${'3'.repeat(400)}h`, 1_200_000_000_000n],
  ['1.9ns', 1n],
  ['9223372036854775807ns', 9_223_372_036_854_775_807n],
  ['-9223372036854775808ns', -9_223_372_036_854_775_808n],
  ['2562047h47m16.854775807s', 9_223_372_036_854_775_807n],
  ['9223372036854775808ns9223372036854775808ns', 0n],
];

const noGoDurations =
  '|+|-|3|.|s|.s|-.s|1|1.5|--1s|+-1s| 1s|1s |1 s|1h 2m|1S|1sec|1d|1w|1e3s|1_0s|0x1s|1h-1m|1..5s|\u0663s|1\u00c2\u00b5s|' +
  '9223372036854775808ns|2562048h|9223372036854775807ns1ns|9223372036854775808h|18446744073709551616ns|-9223372036854775809ns';

test('reads what Go reads, to the nanosecond', () => {
  for (const [text, nanoseconds] of goDurations) assert.equal(parseGoDuration(text), nanoseconds, text);
  for (const text of noGoDurations.split('|')) assert.equal(parseGoDuration(text), undefined, JSON.stringify(text));
});

test('ends at 292 years', () => {
  assert.equal(parseDuration('15250w1d23h'), 9_223_369_200_000);
  assert.equal(parseDuration('15251w'), undefined);
  assert.equal(parseDuration('106751d'), 9_223_286_400_000);
  assert.equal(parseDuration('106752d'), undefined);
});

test('reads durations of our resources: plain numbers with a unit, at most 32 characters', () => {
  assert.equal(parseResourceDuration('1w2d3h4m5s6ms'), 788_645_006);
  assert.equal(parseResourceDuration('1.5h'), 5_400_000);
  assert.equal(parseResourceDuration('5µs'), 0.005);
  assert.equal(parseResourceDuration('0s'), 0);
  assert.equal(parseResourceDuration('1s'.repeat(16)), 16_000);
  const refused = [
    '',
    '0',
    '90',
    '-1s',
    '+1s',
    '.5s',
    '5.s',
    '1\u03bcs',
    '1 s',
    '1s\n',
    '1y',
    '1s'.repeat(17),
    '15251w',
  ];
  for (const text of refused) assert.equal(parseResourceDuration(text), undefined, JSON.stringify(text));
});
