import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLocalTime } from './wording.ts';

const timeOf = (at: string, timeZone: string): string => {
  const { date, time } = toLocalTime(Date.parse(at), timeZone);
  return `${date} ${time}`;
};

test('a time that a clock shows twice, for it is set back, has the offset that tells which one it is', () => {
  assert.equal(timeOf('2026-10-24T23:59:00Z', 'Europe/Berlin'), '2026-10-25 01:59');
  assert.equal(timeOf('2026-10-25T00:00:00Z', 'Europe/Berlin'), '2026-10-25 02:00+02:00');
  assert.equal(timeOf('2026-10-25T01:00:00Z', 'Europe/Berlin'), '2026-10-25 02:00+01:00');
  assert.equal(timeOf('2026-10-25T02:00:00Z', 'Europe/Berlin'), '2026-10-25 03:00');
  assert.equal(timeOf('2026-11-01T06:30:00Z', 'America/New_York'), '2026-11-01 01:30-05:00');
  assert.equal(
    timeOf('2026-04-04T14:45:00Z', 'Australia/Lord_Howe'),
    '2026-04-05 01:45+11:00',
    'it is set back by half an hour',
  );
});

test('a time that a clock leaves out, or shows once, has none', () => {
  assert.equal(timeOf('2026-03-29T01:00:00Z', 'Europe/Berlin'), '2026-03-29 03:00');
  assert.equal(timeOf('2026-03-29T00:59:00Z', 'Europe/Berlin'), '2026-03-29 01:59');
  assert.equal(timeOf('2026-11-28T02:00:00Z', 'UTC'), '2026-11-28 02:00');
});
