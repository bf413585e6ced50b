import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createZoneClock } from './zone-clock.ts';

const at = (text: string): number => Date.parse(text);

test('tells the wall time with its offset', () => {
  const berlin = createZoneClock('Europe/Berlin');
  assert.equal(berlin.localText(at('2026-11-22T01:30:00Z')), '2026-11-22T02:30:00+01:00');
  assert.equal(berlin.localText(at('2026-07-22T01:30:00Z')), '2026-07-22T03:30:00+02:00');
  assert.equal(createZoneClock('UTC').localText(at('2026-07-22T01:30:00Z')), '2026-07-22T01:30:00+00:00');
  assert.equal(createZoneClock('Asia/Kolkata').localText(at('2026-07-22T00:00:00Z')), '2026-07-22T05:30:00+05:30');
  assert.equal(createZoneClock('America/St_Johns').localText(at('2026-01-01T00:00:00Z')), '2025-12-31T20:30:00-03:30');
});

test('knows wall times that come twice, in both of their turns', () => {
  const berlin = createZoneClock('Europe/Berlin');
  for (const repeated of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']) {
    assert.equal(berlin.isRepeated(at(repeated)), true, repeated);
  }
  for (const once of ['2026-10-24T23:59:00Z', '2026-10-25T02:00:00Z', '2026-03-29T00:59:00Z', '2026-03-29T01:00:00Z']) {
    assert.equal(berlin.isRepeated(at(once)), false, once);
  }
});

test('finds the wall times that never come', () => {
  const berlin = createZoneClock('Europe/Berlin');
  assert.deepEqual(berlin.gaps(at('2026-03-28T12:10:00Z'), at('2026-03-30T12:10:00Z')), [
    { from: at('2026-03-29T02:00:00Z'), byMs: 3_600_000 },
  ]);
  assert.deepEqual(berlin.gaps(at('2026-10-24T00:00:00Z'), at('2026-10-26T00:00:00Z')), []);
  const lordHowe = createZoneClock('Australia/Lord_Howe');
  assert.deepEqual(lordHowe.gaps(at('2026-10-03T00:00:00Z'), at('2026-10-05T00:00:00Z')), [
    { from: at('2026-10-04T02:00:00Z'), byMs: 1_800_000 },
  ]);
});
