import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMicroTime, withSixDecimals } from './micro-time.ts';

test('an instant is written with exactly six decimals', () => {
  assert.equal(toMicroTime(Date.UTC(2026, 10, 21, 7, 53, 1, 7)), '2026-11-21T07:53:01.007000Z');
});

/** [given, written] */
const rows: [string | undefined, string | undefined][] = [
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000Z'],
  ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500000Z'],
  ['2026-01-01T00:00:00.123Z', '2026-01-01T00:00:00.123000Z'],
  ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456Z'],
  ['2026-01-01T02:00:00+02:00', '2026-01-01T02:00:00.000000+02:00'],
  ['no time', 'no time'],
  [undefined, undefined],
];

for (const [given, written] of rows) {
  test(`a time with other decimals: ${given ?? 'none'}`, () => {
    assert.equal(withSixDecimals(given), written);
  });
}
