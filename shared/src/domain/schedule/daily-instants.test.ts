import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dailyInstants } from './daily-instants.ts';

const iso = (at: number): string => new Date(at).toISOString();

test('the last, the one before and the next time of a day are those of the zone', () => {
  const around = dailyInstants('06:00', 'Europe/Berlin', Date.parse('2026-11-21T12:00:00Z'));
  assert.deepEqual([around.beforeLastAt, around.lastAt, around.nextAt].map(iso), [
    '2026-11-20T05:00:00.000Z',
    '2026-11-21T05:00:00.000Z',
    '2026-11-22T05:00:00.000Z',
  ]);
});

test('the instant itself is the last one, the millisecond before is not', () => {
  const at = Date.parse('2026-11-21T05:00:00Z');
  assert.equal(dailyInstants('06:00', 'Europe/Berlin', at).lastAt, at);
  assert.equal(iso(dailyInstants('06:00', 'Europe/Berlin', at - 1).lastAt), '2026-11-20T05:00:00.000Z');
});

test('a time that a clock change leaves out is the first instant after the gap', () => {
  const { lastAt } = dailyInstants('02:30', 'Europe/Berlin', Date.parse('2026-03-29T12:00:00Z'));
  assert.equal(iso(lastAt), '2026-03-29T01:00:00.000Z');
});

test('a time that comes twice is the first one', () => {
  const { lastAt, nextAt } = dailyInstants('02:30', 'Europe/Berlin', Date.parse('2026-10-25T12:00:00Z'));
  assert.equal(iso(lastAt), '2026-10-25T00:30:00.000Z');
  assert.equal(iso(nextAt), '2026-10-26T01:30:00.000Z');
});

test('days far ahead of and behind UTC are counted in the zone', () => {
  const at = Date.parse('2026-06-01T11:00:00Z');
  assert.equal(iso(dailyInstants('00:30', 'Pacific/Kiritimati', at).lastAt), '2026-06-01T10:30:00.000Z');
  assert.equal(iso(dailyInstants('23:30', 'Pacific/Pago_Pago', at).lastAt), '2026-06-01T10:30:00.000Z');
});

test('an unknown zone is refused', () => {
  assert.throws(() => dailyInstants('06:00', 'Mars/Olympus', 0), { code: 'zone' });
});
