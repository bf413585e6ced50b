import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScheduleError } from './index.ts';
import { getZone } from './zone.ts';
import { listZoneNames } from './zone-names.ts';

const at = (text: string): number => Date.parse(text) / 1_000;

test('knows every name of the IANA database', () => {
  const names = listZoneNames();
  assert.equal(names.length, 598);
  for (const name of names) {
    const offset = getZone(name).offsetAt(at('2020-01-01T00:00Z'));
    assert.ok(Math.abs(offset) <= 14 * 3_600, `${name} ${offset}`);
  }
});

test('refuses names in another case, offsets, and names that only Intl knows', () => {
  const unknown = [
    'utc',
    'europe/berlin',
    'EUROPE/BERLIN',
    '+05:00',
    '-08',
    'PST',
    'BST',
    'SystemV/EST5',
    'Local',
    'Mars',
  ];
  for (const name of unknown) {
    assert.throws(
      () => getZone(name),
      (error) => error instanceof ScheduleError && error.code === 'zone' && error.message.includes(name),
    );
  }
});

test('takes the empty name for UTC', () => {
  assert.equal(getZone('').name, 'UTC');
  assert.equal(getZone('').offsetAt(0), 0);
});

/** Zone, the first second of a new offset, the offset before it and after it, in seconds. */
const changes: readonly (readonly [string, string, number, number])[] = [
  ['America/New_York', '2026-03-08T07:00:00Z', -18_000, -14_400],
  ['America/New_York', '2026-11-01T06:00:00Z', -14_400, -18_000],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z', 37_800, 39_600],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', -36_000, 50_400],
  ['Africa/Casablanca', '2024-03-10T02:00:00Z', 3_600, 0],
  ['Africa/Monrovia', '1972-01-07T00:44:30Z', -2_670, 0],
  ['Africa/Tunis', '1943-04-17T00:00:00Z', 7_200, 3_600],
  ['Africa/Tunis', '1943-04-25T01:00:00Z', 3_600, 7_200],
  ['Europe/Berlin', '2150-03-29T01:00:00Z', 3_600, 7_200],
];

test('changes its offset at the very second', () => {
  for (const [name, change, before, after] of changes) {
    const zone = getZone(name);
    const second = at(change);
    for (const distance of [1, 60, 86_400]) {
      assert.equal(zone.offsetAt(second - distance), before, `${name} ${change} - ${distance}`);
      assert.equal(zone.offsetAt(second + distance), after, `${name} ${change} + ${distance}`);
    }
    assert.equal(zone.offsetAt(second), after, `${name} ${change}`);
  }
});

test('answers the same in whatever order it is asked', () => {
  const zone = getZone('Asia/Gaza');
  const seconds = Array.from({ length: 400 }, (_, index) => at('2010-01-01T00:00Z') + index * 500_009);
  const forwards = seconds.map((second) => zone.offsetAt(second));
  const backwards = seconds.toReversed().map((second) => zone.offsetAt(second));
  const shuffled = seconds.map((_, index) => (index * 177) % 400);
  assert.deepEqual(backwards.toReversed(), forwards);
  for (const index of shuffled) assert.equal(zone.offsetAt(seconds[index] ?? 0), forwards[index]);
  assert.ok(new Set(forwards).size > 1);
});

test('keeps the first and the last offset beyond what it can ask', () => {
  assert.equal(getZone('America/New_York').offsetAt(-1e12), -17_762);
  assert.equal(getZone('Asia/Tokyo').offsetAt(1e13), 32_400);
});
