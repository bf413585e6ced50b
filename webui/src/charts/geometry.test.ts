import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTicks } from './days/day-bars.ts';
import { apart } from './duration/plot.ts';
import { dailyFigures, nearestRank, needsLogScale, type DurationPoint } from './duration/daily.ts';
import { layCells } from './heatmap/cells.ts';
import { laneTicks } from './lanes/lane-axis.ts';
import { drawBars, type StripBar } from './run-strip/bars.ts';

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
      point(10, 5),
      point(20, 7),
      point(30, 100, { isFailed: true }),
      point(40, 200, { counts: false }),
      point(dayMs + 1, 9),
    ];
    assert.deepEqual(dailyFigures(points), [
      { at: dayMs / 2, p50: 5, p95: 7 },
      { at: dayMs + dayMs / 2, p50: 9, p95: 9 },
    ]);
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
});

test('the axis of lanes stands at round hours of the zone of the view', () => {
  const from = Date.UTC(2026, 10, 21, 14, 3);
  const ticks = laneTicks(from, from + dayMs, 12, 'UTC');
  assert.deepEqual(
    ticks.slice(0, 2).map(({ ms }) => new Date(ms).toISOString().slice(11, 16)),
    ['16:00', '18:00'],
  );
  assert.equal(ticks.filter(({ isDay }) => isDay).length, 1);
  const ofMonth = laneTicks(from, from + 30 * dayMs, 10, 'UTC');
  assert.equal(ofMonth.length, 10);
  assert.ok(
    ofMonth.every(({ ms }, index) => ms === (ofMonth[0]?.ms ?? 0) + index * 3 * dayMs),
    'every third day',
  );
  assert.equal(new Date(laneTicks(from, from + dayMs, 12, 'Asia/Kathmandu')[0]?.ms ?? 0).getUTCMinutes(), 15);
});
