import assert from 'node:assert/strict';
import test from 'node:test';
import { lastNight } from './plan.ts';

const told = (zone: string, now: string): string[] => {
  const { fromAt, untilAt } = lastNight(zone, Date.parse(now));
  return [fromAt, untilAt].map((at) => new Date(at).toISOString().slice(0, 16));
};

test('a night is the one that began last, until the next begins', () => {
  assert.deepEqual(told('UTC', '2026-11-20T18:00:00Z'), ['2026-11-20T18:00', '2026-11-21T06:00']);
  assert.deepEqual(told('UTC', '2026-11-21T17:59:59Z'), ['2026-11-20T18:00', '2026-11-21T06:00']);
});

test('a night is an hour shorter or longer where the clocks change in it', () => {
  assert.deepEqual(told('Europe/Berlin', '2027-03-27T20:00:00Z'), ['2027-03-27T17:00', '2027-03-28T04:00']);
  assert.deepEqual(told('Europe/Berlin', '2027-10-30T20:00:00Z'), ['2027-10-30T16:00', '2027-10-31T05:00']);
});

test('two nights in a row differ also where both begin on one day of UTC', () => {
  assert.deepEqual(told('America/Chicago', '2027-03-14T05:00:00Z'), ['2027-03-14T00:00', '2027-03-14T11:00']);
  assert.deepEqual(told('America/Chicago', '2027-03-14T23:30:00Z'), ['2027-03-14T23:00', '2027-03-15T11:00']);
});
