import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInstant } from './parameters.ts';

/** Text, and the instant it names. */
const readable: readonly (readonly [string, string])[] = [
  ['2026-11-21T06:52:00Z', '2026-11-21T06:52:00.000Z'],
  ['2026-11-21t06:52:00.5z', '2026-11-21T06:52:00.500Z'],
  ['2026-11-21T06:52:00.123456789Z', '2026-11-21T06:52:00.123Z'],
  ['2026-11-21T06:52:00+01:00', '2026-11-21T05:52:00.000Z'],
  ['2026-11-21T00:30:00-05:30', '2026-11-21T06:00:00.000Z'],
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
];

test('reads RFC 3339 with Z or an offset, and dates as their beginning in UTC', () => {
  for (const [text, expected] of readable) {
    const reading = readInstant(text);
    assert.ok('at' in reading, text);
    assert.equal(new Date(reading.at).toISOString(), expected);
  }
});

test('refuses everything else', () => {
  const others = [
    '',
    'now',
    '1763707920000',
    '2026-11-21T06:52',
    '2026-11-21T06:52:00',
    '2026-11-21 06:52:00Z',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-11-21T24:00:00Z',
    '2026-11-21T06:60:00Z',
    '2026-11-21T06:52:60Z',
    '2026-11-21T06:52:00+24:00',
    '2026-11-21T06:52:00+0100',
    '+002026-11-21',
  ];
  for (const text of others) assert.ok('problem' in readInstant(text), text);
});

test('says that the + of an offset was lost where a blank stands in its place', () => {
  const reading = readInstant('2026-11-21T06:52:00 01:00');
  assert.ok('problem' in reading && /%2B/.test(reading.problem));
});
