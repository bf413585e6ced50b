import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, ScheduleError } from './index.ts';

const at = (text: string): number => Date.parse(text);
const text = (instant: number | null): string =>
  instant === null ? 'none' : new Date(instant).toISOString().replace(':00.000Z', 'Z');

/** Schedule, zone, the instant it is asked from, and its next slots: what robfig/cron answers around clock changes. */
const oddDays: readonly (readonly [string, string, string, readonly string[]])[] = [
  // Inside the spring gap: no slot that day.
  ['30 2 * * *', 'America/New_York', '2026-03-08T00:00Z', ['2026-03-09T06:30Z', '2026-03-10T06:30Z']],
  // Inside the autumn overlap: two slots.
  ['30 1 * * *', 'America/New_York', '2026-11-01T00:00Z', ['2026-11-01T05:30Z', '2026-11-01T06:30Z']],
  // Clocks move by half an hour.
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', ['2026-10-03T15:15Z', '2026-10-03T15:45Z']],
  ['0 2 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', ['2026-04-05T15:30Z', '2026-04-06T15:30Z']],
  ['0 3 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', ['2026-04-05T16:30Z', '2026-04-06T16:30Z']],
  // Midnight does not exist: Friday is left out, and Thursday leaks into it.
  ['0 5 * * 5', 'Africa/Cairo', '2026-04-23T12:00Z', ['2026-05-01T02:00Z', '2026-05-08T02:00Z']],
  ['0 5 * * 4', 'Africa/Cairo', '2026-04-22T12:00Z', ['2026-04-23T03:00Z', '2026-04-24T02:00Z', '2026-04-30T02:00Z']],
  ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00Z', ['2018-11-05T02:00Z']],
];

test('fires around clock changes as the controller does', () => {
  for (const [spec, zone, from, slots] of oddDays) {
    const found = parse(spec).between(at(from), at('2030-01-01T00:00Z'), zone, slots.length);
    assert.deepEqual(found.map(text), slots, `${spec} ${zone}`);
  }
});

/** Friday 2011-12-30 does not exist in Apia: the slot after 29 December, noon there. */
const skippedDay: readonly (readonly [string, string])[] = [
  ['0 5 31 * *', '2011-12-30T15:00Z'],
  ['0 5 30 * *', '2012-01-29T15:00Z'],
  ['0 5 * * 5', '2012-01-05T15:00Z'],
  ['0 5 * * 6', '2011-12-30T15:00Z'],
  ['0 5 1 1 *', '2011-12-31T15:00Z'],
  ['0 5 30 12 *', '2012-12-29T15:00Z'],
];

test('steps over a day that was skipped', () => {
  for (const [spec, slot] of skippedDay) {
    assert.equal(text(parse(spec).next(at('2011-12-29T22:00Z'), 'Pacific/Apia')), slot, spec);
  }
});

test('ends for every weekday around each day that was skipped', () => {
  const days: readonly (readonly [string, string])[] = [
    ['Pacific/Apia', '2011-12-30T10:00Z'],
    ['Pacific/Fakaofo', '2011-12-30T11:00Z'],
    ['Pacific/Kwajalein', '1993-08-21T12:00Z'],
    ['Pacific/Kiritimati', '1994-12-31T10:00Z'],
    ['Pacific/Kanton', '1994-12-31T11:00Z'],
    ['Pacific/Guam', '1844-12-31T00:00Z'],
  ];
  for (const [zone, day] of days) {
    for (let hours = -96; hours <= 96; hours += 7) {
      const from = at(day) + hours * 3_600_000;
      for (let weekday = 0; weekday < 7; weekday++) {
        const slot = parse(`30 6 * * ${weekday}`).next(from, zone);
        assert.ok(slot !== null && slot > from && slot - from <= 15 * 86_400_000, `${zone} ${weekday} ${hours}`);
      }
    }
  }
});

test('may step back, as the original does, in hours repeated by a change of more than one hour', () => {
  const slot = parse('15 23 * * *').next(at('1991-03-03T02:00Z'), 'America/Argentina/Catamarca');
  assert.equal(text(slot), '1991-03-03T01:15Z');
});

test('finds nothing beyond the end of the fifth year', () => {
  assert.equal(parse('0 0 31 2 *').next(at('2026-01-01T00:00Z'), 'UTC'), null);
  assert.equal(parse('0 0 29 2 *').next(at('2098-06-01T00:00Z'), 'UTC'), null);
  assert.equal(text(parse('0 0 29 2 *').next(at('2099-01-01T00:00Z'), 'UTC')), '2104-02-29T00:00Z');
  assert.deepEqual(parse('0 0 31 2 *').between(0, at('2026-01-01T00:00Z'), 'UTC'), []);
});

test('starts with the second after an instant, whatever its fraction', () => {
  const schedule = parse('* * * * *');
  const slot = at('2026-01-01T00:01:00Z');
  for (const before of [60_000, 1_000, 999, 1, 0.25]) assert.equal(schedule.next(slot - before, 'UTC'), slot);
  for (const after of [0, 0.25, 1, 999.999]) assert.equal(schedule.next(slot + after, 'UTC'), slot + 60_000);
  assert.equal(schedule.next(-1, 'UTC'), 0);
  assert.equal(parse('@every 10s').next(-1, 'UTC'), 9_000);
  assert.equal(parse('@every 10s').next(1_999.5, 'UTC'), 11_000);
  assert.throws(() => schedule.next(NaN, 'UTC'), RangeError);
  assert.throws(() => parse('@every 1h').next(Infinity, 'UTC'), RangeError);
});

test('gives the slots of a span, the end included and the start not', () => {
  const schedule = parse('0 * * * *');
  const from = at('2026-01-01T00:00Z');
  const hours = (count: number): number => from + count * 3_600_000;
  assert.deepEqual(schedule.between(from, hours(3), 'UTC'), [hours(1), hours(2), hours(3)]);
  assert.deepEqual(schedule.between(from - 1, hours(3) - 1, 'UTC'), [hours(0), hours(1), hours(2)]);
  assert.deepEqual(schedule.between(from, hours(3), 'UTC', 2), [hours(1), hours(2)]);
  assert.deepEqual(schedule.between(from, hours(3), 'UTC', 0), []);
  assert.deepEqual(schedule.between(hours(3), from, 'UTC'), []);
  assert.equal(parse('* * * * *').between(from, from + 86_400_000 * 365, 'UTC').length, 10_000);
  assert.deepEqual(parse('@every 1h').between(from + 5, hours(2), 'UTC'), [hours(1), hours(2)]);
});

/** Schedule, zone, an instant, and the last slot before it. */
const before: readonly (readonly [string, string, string, string])[] = [
  ['* * * * *', 'UTC', '2026-01-01T00:01Z', '2026-01-01T00:00Z'],
  ['* * * * *', 'UTC', '2026-01-01T00:01:00.001Z', '2026-01-01T00:01Z'],
  ['0 * * * *', 'Asia/Kolkata', '2026-01-01T00:00Z', '2025-12-31T23:30Z'],
  ['*/5 0-3 * * *', 'UTC', '2026-01-01T23:00Z', '2026-01-01T03:55Z'],
  ['* * * 1 *', 'UTC', '2026-12-24T12:00Z', '2026-01-31T23:59Z'],
  ['0 0 1 1 *', 'Europe/Berlin', '2026-11-21T00:00Z', '2025-12-31T23:00Z'],
  ['30 2 * * *', 'America/New_York', '2026-03-09T06:30Z', '2026-03-07T07:30Z'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T07:00Z', '2026-11-01T06:30Z'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T06:30Z', '2026-11-01T05:30Z'],
  ['0 0 29 2 *', 'UTC', '2026-11-21T00:00Z', '2024-02-29T00:00Z'],
  ['0 0 29 2 *', 'UTC', '2104-02-29T00:00Z', '2096-02-29T00:00Z'],
  ['0 0 31 2 *', 'UTC', '2026-11-21T00:00Z', 'none'],
  [', * * * *', 'UTC', '2026-11-21T00:00Z', 'none'],
];

test('finds the last slot before an instant', () => {
  for (const [spec, zone, instant, slot] of before) {
    assert.equal(text(parse(spec).previous(at(instant), zone)), slot, `${spec} ${zone} ${instant}`);
  }
});

test('counts an interval from its anchor, clock changes or not', () => {
  const anchor = at('2026-03-07T12:00:00.700Z');
  const schedule = parse('@every 24h');
  const previous = (instant: string): string => text(schedule.previous(at(instant), 'America/New_York', anchor));
  assert.equal(previous('2026-03-10T12:00:00.001Z'), '2026-03-10T12:00Z');
  assert.equal(previous('2026-03-10T12:00Z'), '2026-03-09T12:00Z');
  assert.equal(previous('2026-03-08T12:00Z'), 'none');
  assert.equal(previous('2026-03-01T12:00Z'), 'none');
  assert.equal(text(schedule.next(anchor, 'America/New_York')), '2026-03-08T12:00Z');
  assert.throws(
    () => schedule.previous(anchor, 'UTC'),
    (error) => error instanceof ScheduleError && error.code === 'anchor',
  );
});

test('refuses an unknown zone, unless the text has its own', () => {
  const isZoneError = (error: unknown): boolean => error instanceof ScheduleError && error.code === 'zone';
  for (const spec of ['0 * * * *', '@every 1h', 'TZ=Local @daily']) {
    const schedule = parse(spec);
    for (const zone of ['Local', 'europe/berlin', '+05:00', 'Mars/Olympus']) {
      assert.throws(() => schedule.next(0, zone), isZoneError);
      assert.throws(() => schedule.previous(0, zone, 0), isZoneError);
      assert.throws(() => schedule.between(0, 1, zone), isZoneError);
    }
  }
  assert.equal(parse('TZ=UTC 0 * * * *').next(0, 'Mars/Olympus'), 3_600_000);
  assert.equal(parse('0 * * * *').next(0, ''), 3_600_000);
});
