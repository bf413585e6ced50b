import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parse } from './index.ts';

/**
 * Random schedules, zones and instants against what a schedule means: its own sets of values and the wall clock that
 * `Intl` shows. The zones are those whose clocks changed by whole hours and never at midnight since 1996; elsewhere the
 * original itself breaks these properties, and its vectors decide. `SCHEDULE_RUNS` sets how many schedules are drawn; each
 * is asked from ten instants. A failure prints its seed.
 */
const numRuns = Number(process.env['SCHEDULE_RUNS'] ?? 500);

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Sydney', 'Pacific/Auckland', 'Asia/Kolkata'];

interface Drawn {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  readonly star: boolean;
}

/** One field: what it says and what it means, made apart from the parser. */
function field(min: number, max: number): fc.Arbitrary<Drawn> {
  const number = fc.integer({ min, max });
  const all = { text: '*', values: span(min, max, 1), star: true };
  const item: fc.Arbitrary<Drawn> = fc.oneof(
    number.map((value) => ({ text: `${value}`, values: new Set([value]), star: false })),
    fc.tuple(number, number, fc.integer({ min: 1, max: 9 })).map(([one, other, step]) => {
      const [low, high] = one < other ? [one, other] : [other, one];
      return { text: `${low}-${high}/${step}`, values: span(low, high, step), star: false };
    }),
    fc.integer({ min: 2, max: 40 }).map((step) => ({ text: `*/${step}`, values: span(min, max, step), star: false })),
    fc.tuple(number, fc.integer({ min: 1, max: 9 })).map(([low, step]) => {
      return { text: `${low}/${step}`, values: span(low, max, step), star: false };
    }),
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
    text: items.map(({ text }) => text).join(','),
    values: new Set(items.flatMap(({ values }) => [...values])),
    star: false,
  }));
  return fc.oneof({ weight: 2, arbitrary: fc.constant(all) }, { weight: 3, arbitrary: list });
}

function span(low: number, high: number, step: number): Set<number> {
  const values = new Set<number>();
  for (let value = low; value <= high; value += step) values.add(value);
  return values;
}

const drawnFields = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6));
const instants = fc.array(fc.integer({ min: Date.UTC(1996, 0, 1), max: Date.UTC(2026, 0, 1) }), {
  minLength: 10,
  maxLength: 10,
});
const scheduleZoneInstants = [drawnFields, fc.constantFrom(...zones), instants] as const;

const formats = new Map(
  zones.map((zone) => [
    zone,
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
  ]),
);
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Whether the wall clock of a zone shows what the fields say, at second 0. */
function matches(
  [minute, hour, dayOfMonth, month, dayOfWeek]: readonly Drawn[],
  zone: string,
  instant: number,
): boolean {
  const shown = formats.get(zone)?.format(instant) ?? ''; // such as "Sun, 3/8, 02:30:00"
  const [weekday = '', ...numbers] = shown.split(/[^A-Za-z0-9]+/);
  const [shownMonth = -1, day = -1, shownHour = -1, shownMinute = -1] = numbers.map(Number);
  const hasDayOfMonth = dayOfMonth?.values.has(day) === true;
  const hasDayOfWeek = dayOfWeek?.values.has(weekdays.indexOf(weekday)) === true;
  const bothMustMatch = dayOfMonth?.star === true || dayOfWeek?.star === true;
  return (
    instant % 60_000 === 0 &&
    minute?.values.has(shownMinute) === true &&
    hour?.values.has(shownHour) === true &&
    month?.values.has(shownMonth) === true &&
    (bothMustMatch ? hasDayOfMonth && hasDayOfWeek : hasDayOfMonth || hasDayOfWeek)
  );
}

const toSpec = (fields: readonly Drawn[]): string => fields.map(({ text }) => text).join(' ');

test('the next slot is later, shows what the fields say, and skips no minute that does', () => {
  const check = (fields: readonly Drawn[], zone: string, froms: readonly number[]): void => {
    const schedule = parse(toSpec(fields));
    for (const from of froms) {
      const slot = schedule.next(from, zone);
      const end = slot ?? from + 4 * 366 * 86_400_000;
      if (slot !== null) {
        assert.ok(slot > from && slot % 60_000 === 0, 'later, at second 0');
        assert.ok(matches(fields, zone, slot), `${new Date(slot).toISOString()} does not match`);
      }
      for (const between of minutesBetween(from, end)) {
        assert.ok(!matches(fields, zone, between), `${new Date(between).toISOString()} was skipped`);
      }
    }
  };
  fc.assert(fc.property(...scheduleZoneInstants, check), { numRuns });
});

/** Whole minutes strictly between two instants: some near either end, some spread over the gap. */
function minutesBetween(from: number, end: number): number[] {
  const first = Math.floor(from / 60_000) + 1;
  const last = Math.ceil(end / 60_000) - 1;
  const near = [0, 1, 2, 59, 60, 61, 1_440].flatMap((distance) => [first + distance, last - distance]);
  const spread = Array.from({ length: 10 }, (_, index) => first + Math.floor(((last - first) * index) / 10));
  return [...near, ...spread].filter((minute) => minute >= first && minute <= last).map((minute) => minute * 60_000);
}

test('the slots of a span are those that next gives one after another, and previous leads back', () => {
  const check = (fields: readonly Drawn[], zone: string, froms: readonly number[]): void => {
    const schedule = parse(toSpec(fields));
    for (const from of froms.slice(0, 2)) {
      const chained: number[] = [];
      for (
        let slot = schedule.next(from, zone);
        slot !== null && chained.length < 5;
        slot = schedule.next(slot, zone)
      ) {
        chained.push(slot);
      }
      const [first, last] = [chained[0], chained.at(-1)];
      if (first === undefined || last === undefined) continue;
      assert.deepEqual(schedule.between(from, last, zone), chained);
      assert.equal(schedule.previous(last + 1, zone), last);
      const wayBack = chained.slice(1).map((slot) => schedule.previous(slot, zone));
      assert.deepEqual(wayBack, chained.slice(0, -1));
      const earlier = schedule.previous(first, zone);
      if (earlier !== null) assert.equal(schedule.next(earlier, zone), first);
    }
  };
  fc.assert(fc.property(...scheduleZoneInstants, check), { numRuns: Math.ceil(numRuns / 4) });
});

test('an interval leads from its anchor to every slot and back', () => {
  const seconds = fc.integer({ min: 1, max: 10_000_000 });
  const anchor = fc.integer({ min: Date.UTC(1996, 0, 1), max: Date.UTC(2026, 0, 1) });
  const check = (interval: number, start: number, count: number): void => {
    const schedule = parse(`@every ${interval}s`);
    let slot: number | null = start;
    for (let index = 0; index < count && slot !== null; index++) slot = schedule.next(slot, 'UTC');
    assert.equal(slot, (Math.floor(start / 1_000) + interval * count) * 1_000);
    assert.equal(schedule.previous((slot ?? 0) + 1, 'UTC', start), slot);
  };
  fc.assert(fc.property(seconds, anchor, fc.integer({ min: 1, max: 50 }), check), { numRuns });
});
