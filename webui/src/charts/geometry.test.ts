import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTicks } from './days/day-bars.ts';
import { apart } from './duration/plot.ts';
import { dailyFigures, nearestRank, needsLogScale, type DurationPoint } from './duration/daily.ts';
import { layCells } from './heatmap/cells.ts';
import { laneTicks } from './lanes/lane-axis.ts';
import { drawBars, type StripBar } from './run-strip/bars.ts';
import { stripDays } from './run-strip/strip-days.ts';

const dayMs = 86_400_000;

describe('a strip of bars', () => {
  const size = { pitchPx: 5, heightPx: 24 };
  const bar = (changes: Partial<StripBar> = {}): StripBar => ({ bar: 'full', tone: 'ok', share: 1, ...changes });

  test('is one path for everything of one look', () => {
    const paths = drawBars([bar(), bar(), bar({ bar: 'crossed', tone: 'crit' })], size);
    assert.deepEqual(
      paths.map(({ look }) => look),
      ['fill ok', 'fill crit', 'sign crit'],
    );
    assert.equal(paths[0]?.d, 'M0 7h4v17h-4zM5 7h4v17h-4z');
  });

  test('shows the quickest success and every failure', () => {
    assert.equal(drawBars([bar({ share: 0 })], size)[0]?.d, 'M0 22h4v2h-4z');
    assert.equal(drawBars([bar({ bar: 'crossed', tone: 'crit', share: 0 })], size)[0]?.d, 'M0 15h4v9h-4z');
  });

  test('never grows above its room', () => {
    assert.equal(drawBars([bar({ share: 7 })], size)[0]?.d, 'M0 7h4v17h-4z');
  });

  test('draws one, two or three lines for what was skipped', () => {
    for (const [name, lines] of [
      ['one', 1],
      ['two', 2],
      ['three', 3],
    ] as const) {
      const d = drawBars([bar({ bar: name, tone: 'off' })], size)[0]?.d ?? '';
      assert.equal(d.match(/z/g)?.length, lines);
    }
  });

  test('has no bar wider than 24 px: with more room it stands in the middle of it', () => {
    const paths = drawBars([bar(), bar()], { pitchPx: 42, heightPx: 24 });
    assert.equal(paths[0]?.d, 'M8 7h24v17h-24zM50 7h24v17h-24z');
  });

  test('places bars by time where that is asked for', () => {
    const paths = drawBars([bar(), bar()], { ...size, xOf: (index) => 100 * index });
    assert.match(paths[0]?.d ?? '', /^M0 7.*M100 7/);
  });
});

describe('the days under a strip of bars', () => {
  const runsFrom = (at: string, count: number, everyMs: number): { at: string }[] =>
    Array.from({ length: count }, (_, index) => ({ at: new Date(Date.parse(at) + index * everyMs).toISOString() }));
  const labels = (runs: readonly { at: string }[], pitchPx: number, timeZone = 'UTC'): string[] =>
    stripDays(runs, { pitchPx, timeZone }).map(({ index, text }) => `${index} ${text}`);

  test('stand at the first run of each day of the zone', () => {
    const hourly = runsFrom('2026-11-20T20:00:00Z', 60, dayMs / 24);
    assert.deepEqual(labels(hourly, 16), ['0 20 Nov', '4 21 Nov', '28 22 Nov', '52 23 Nov']);
    assert.deepEqual(labels(hourly, 16, 'Europe/Zurich'), ['3 21 Nov', '27 22 Nov', '51 23 Nov']);
  });

  test('are as many as there is room for, with the newest always', () => {
    const daily = runsFrom('2026-11-03T02:00:00Z', 21, dayMs);
    assert.deepEqual(labels(daily, 40).slice(-3), ['16 19 Nov', '18 21 Nov', '20 23 Nov']);
    assert.deepEqual(labels(daily, 10), ['4 7 Nov', '10 13 Nov', '20 23 Nov']);
    const [newest] = stripDays(daily, { pitchPx: 10, timeZone: 'UTC' }).slice(-1);
    assert.ok(newest && newest.px + 44 <= 210, 'it ends within the strip');
  });

  test('are the times of the first and the last run where all are of one day', () => {
    const minutes = runsFrom('2026-11-21T10:00:00Z', 90, 60_000);
    assert.deepEqual(labels(minutes, 10), ['0 21 Nov 10:00', '89 11:29']);
    assert.deepEqual(labels(minutes.slice(0, 2), 10), ['0 21 Nov 10:00']);
    assert.deepEqual(labels([], 10), []);
  });
});

describe('figures by day', () => {
  const point = (at: number, seconds: number, changes: Partial<DurationPoint> = {}): DurationPoint => ({
    at,
    seconds,
    isFailed: false,
    counts: true,
    ...changes,
  });

  test('take the successful scheduled runs of a UTC day', () => {
    const points = [
      ...[5, 6, 6, 6, 7].map((seconds, index) => point(10 * index, seconds)),
      point(60, 100, { isFailed: true }),
      point(70, 200, { counts: false }),
      ...[9, 9, 9, 9, 9].map((seconds, index) => point(dayMs + index, seconds)),
    ];
    assert.deepEqual(dailyFigures(points), [
      { at: dayMs / 2, p50: 6, p95: 7 },
      { at: dayMs + dayMs / 2, p50: 9, p95: 9 },
    ]);
  });

  test('are none of a day with under five successes', () => {
    const four = [5, 6, 6, 7].map((seconds, index) => point(index, seconds));
    assert.deepEqual(dailyFigures([...four, point(9, 7, { isFailed: true })]), []);
    assert.equal(dailyFigures([...four, point(9, 7)]).length, 1);
  });

  test('use the nearest rank', () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    assert.deepEqual([nearestRank(values, 50), nearestRank(values, 95), nearestRank([], 95)], [5, 10, 0]);
  });

  test('need a logarithmic scale where one run is more than fifty times the median', () => {
    assert.equal(needsLogScale([point(0, 1), point(0, 1), point(0, 50)]), false);
    assert.equal(needsLogScale([point(0, 1), point(0, 1), point(0, 51)]), true);
    assert.equal(needsLogScale([]), false);
  });
});

test('labels that would cover each other are moved apart, in their order', () => {
  assert.deepEqual(apart([50, 10, 12], 14), [50, 10, 24]);
  assert.deepEqual(apart([10, 30], 14), [10, 30]);
});

test('an axis of counts has whole numbers', () => {
  assert.deepEqual([0, 1, 2, 3, 7, 9, 97].map(countTicks), [
    [0, 1],
    [0, 1],
    [0, 1, 2],
    [0, 3],
    [0, 7],
    [0, 5, 10],
    [0, 49, 98],
  ]);
});

describe('a heatmap', () => {
  const days = Array.from({ length: 70 }, (_, index) => ({
    date: new Date(Date.UTC(2026, 8, 16) + index * dayMs).toISOString().slice(0, 10), // a Wednesday
    kind: 'succeeded' as const,
  }));
  const laid = layCells(days);

  test('has columns of weeks that begin on Monday', () => {
    assert.deepEqual([laid.cells[0]?.week, laid.cells[0]?.weekday], [0, 2]);
    assert.deepEqual([laid.cells[5]?.week, laid.cells[5]?.weekday], [1, 0]);
    assert.equal(laid.weeks, 11);
  });

  test('names the months that have room', () => {
    assert.deepEqual(
      laid.months.map(({ name }) => name),
      ['Oct', 'Nov'],
    );
  });

  test('finds the last day of a column', () => assert.equal(laid.cells[laid.indexAt(0)]?.weekday, 6));

  test('has room for the name of a month of one column, and the last day beside it', () => {
    const few = layCells(days.slice(0, 4));
    assert.deepEqual([few.months.map(({ name, week }) => [name, week]), few.weeks], [[['Sep', 0]], 2]);
    assert.equal(few.indexAt(1), 3);
  });
});

describe('an axis of time', () => {
  const hourMs = 3_600_000;
  const untilMs = Date.UTC(2026, 10, 27, 9, 7, 33);
  const textsOf = (hours: number, widthPx: number, timeZone: string, until = untilMs): string[] =>
    laneTicks({ fromMs: until - hours * hourMs, untilMs: until, widthPx, timeZone }).map(({ text }) => text);

  const table: readonly (readonly [string, number, string, string])[] = [
    ['1 h', 1, 'UTC', '08:15, 08:30, 08:45, 09:00'],
    ['6 h', 6, 'UTC', '04:00, 05:00, 06:00, 07:00, 08:00'],
    ['24 h', 24, 'UTC', '12:00, 15:00, 18:00, 21:00, 27 Nov, 03:00, 06:00'],
    ['7 d', 7 * 24, 'UTC', '21 Nov, 22 Nov, 23 Nov, 24 Nov, 25 Nov, 26 Nov, 27 Nov'],
    ['30 d', 30 * 24, 'UTC', '1 Nov, 4 Nov, 7 Nov, 10 Nov, 13 Nov, 16 Nov, 19 Nov, 22 Nov, 25 Nov'],
    [
      '90 d',
      90 * 24,
      'UTC',
      '6 Sep, 13 Sep, 20 Sep, 27 Sep, 4 Oct, 11 Oct, 18 Oct, 25 Oct, 1 Nov, 8 Nov, 15 Nov, 22 Nov',
    ],
    ['1 h', 1, 'Asia/Kathmandu', '14:00, 14:15, 14:30, 14:45'],
    ['6 h', 6, 'Asia/Kathmandu', '10:00, 11:00, 12:00, 13:00, 14:00'],
    ['24 h', 24, 'Asia/Kathmandu', '18:00, 21:00, 27 Nov, 03:00, 06:00, 09:00, 12:00'],
  ];
  for (const [range, hours, timeZone, texts] of table)
    test(`of ${range} stands at round times of ${timeZone}`, () =>
      assert.equal(textsOf(hours, 800, timeZone).join(', '), texts));

  test('has each third day of a month beside the rail of a CronJob too', () =>
    assert.deepEqual(textsOf(30 * 24, 540, 'UTC'), textsOf(30 * 24, 800, 'UTC')));

  test('says the weekday of a time of day that comes again', () => {
    assert.equal(
      textsOf(36, 1_008, 'UTC').join(', '),
      '26 Nov, 03:00, 06:00, 09:00, 12:00, 15:00, 18:00, 21:00, 27 Nov, Fri 03:00, Fri 06:00',
    );
  });

  test('has each time once where clocks go back, and days of 23 and 25 hours', () => {
    const back = Date.UTC(2026, 9, 25, 4, 30);
    assert.deepEqual(textsOf(5, 800, 'Europe/Berlin', back), [
      '02:00',
      '02:30',
      '03:00',
      '03:30',
      '04:00',
      '04:30',
      '05:00',
    ]);
    assert.equal(textsOf(7 * 24, 800, 'Europe/Berlin', back + 72 * hourMs).length, 7);
    assert.equal(textsOf(7 * 24, 800, 'Europe/Berlin', Date.UTC(2026, 2, 31, 12)).length, 7);
  });

  test('has labels that differ, and that touch no other one, no edge and not the word now, however wide it is', () => {
    for (const hours of [1, 2, 6, 24, 36, 7 * 24, 9 * 24, 30 * 24, 90 * 24])
      for (const widthPx of [0, 120, 330, 600, 1_008, 1_440])
        for (const timeZone of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe'])
          for (const late of [0, 9, 23].map((hour) => hour * hourMs)) {
            const until = untilMs + late;
            const nowPx = (widthPx * 2) / 3;
            const ticks = laneTicks({ fromMs: until - hours * hourMs, untilMs: until, widthPx, timeZone, nowPx });
            const spans = ticks.map(({ px, text }) => [px - text.length * 3.4, px + text.length * 3.4] as const);
            const where = `${hours} h, ${widthPx} px, ${timeZone}: ${ticks.map(({ text }) => text).join()}`;
            assert.equal(new Set(ticks.map(({ text }) => text)).size, ticks.length, where);
            for (const [index, [left, right]] of spans.entries()) {
              assert.ok(left >= 0 && right <= widthPx && left > (spans[index - 1]?.[1] ?? -1), where);
              assert.ok(right < nowPx - 36 || left > nowPx, where);
            }
          }
  });
});
