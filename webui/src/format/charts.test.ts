import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Series, SeriesDay } from '@cronjob-monitor/shared/contract';
import { dayBars, dayCells, daysTitle, dayText } from './days.ts';
import { durationTitle } from './duration-title.ts';
import { limitShare, marksIn, stripBars } from './strip.ts';

const dayMs = 86_400_000;

function aDay(date: string, changes: Partial<SeriesDay> = {}): SeriesDay {
  return {
    date,
    recorded: true,
    verdict: 'noRun',
    runs: 0,
    success: 0,
    failed: 0,
    other: 0,
    manual: 0,
    successRate: null,
    avgDurationSeconds: null,
    p50DurationSeconds: null,
    p95DurationSeconds: null,
    maxDurationSeconds: null,
    alerts: 0,
    facts: {},
    slots: { late: 0, missed: 0, skipped: 0, suspended: 0, unseen: 0 },
    ...changes,
  };
}

const series: Series = {
  items: [
    aDay('2026-11-18', { recorded: false, verdict: 'notRecorded' }),
    aDay('2026-11-19', { verdict: 'succeeded', runs: 10, success: 10, successRate: 100 }),
    aDay('2026-11-20', {
      verdict: 'belowTarget',
      runs: 10,
      success: 8,
      failed: 2,
      successRate: 80,
      slots: { late: 0, missed: 1, skipped: 0, suspended: 0, unseen: 0 },
    }),
    aDay('2026-11-21', { verdict: 'failed', runs: 1, failed: 1, successRate: 0 }),
    aDay('2026-11-22'),
  ],
  target: 95,
  figuresFrom: null,
  approximate: false,
};

describe('days', () => {
  test('say as a title what their bars show', () => {
    assert.equal(daysTitle(series), '18 of 21 runs succeeded in 4 days (85.7 %), 1 missed');
    assert.equal(daysTitle({ ...series, items: [aDay('2026-11-22')] }), 'No scheduled run in 1 day');
  });

  test('are stacked from succeeded to not seen, with their rate and whether it is too low', () => {
    const bars = dayBars(series);
    assert.deepEqual(
      bars.map(({ rate, isBelow }) => [rate, isBelow]),
      [
        ['-', false],
        ['100', false],
        ['80', true],
        ['0', true],
        ['-', false],
      ],
    );
    assert.deepEqual(
      bars.map(({ isRecorded }) => isRecorded),
      [false, true, true, true, true],
      'what is before the first figure is no day without a run',
    );
    assert.deepEqual(bars[2]?.parts, [
      { kind: 'succeeded', count: 8 },
      { kind: 'failed', count: 2 },
      { kind: 'missed', count: 1 },
      { kind: 'unseen', count: 0 },
    ]);
  });

  test('have the class that the service gives them, and those before the first figure are left out', () => {
    assert.deepEqual(
      dayCells(series).map(({ kind }) => kind),
      ['succeeded', 'belowTarget', 'failed', 'noRun'],
    );
  });

  test('are said aloud', () => {
    assert.equal(dayText(series.items[2] ?? aDay('')), '2026-11-20: 8 succeeded, 2 failed, 1 missed (80.0 %)');
    assert.equal(dayText(aDay('2026-11-22')), '2026-11-22: no run');
    assert.equal(dayText(aDay('2026-11-18', { recorded: false, verdict: 'notRecorded' })), '2026-11-18: not recorded');
  });
});

describe('the title of a chart of durations', () => {
  /** So many runs a day, all of a day as long. */
  const points = (seconds: readonly number[], runs = 1, isFailed = false) =>
    seconds.flatMap((value, day) =>
      Array.from({ length: runs }, (_, run) => ({ at: day * dayMs + run, seconds: value, isFailed, counts: true })),
    );
  const rising = [720, 720, 720, 840, 900, 960, 1080, 1080, 1080];
  const steady = [100, 101, 99, 100, 102, 98];

  test('tells that p95 rose, from what to what, beside the limit', () => {
    assert.equal(
      durationTitle(points(rising, 5), 20, '25m'),
      'p95 rose from 12 min to 18 min in 20 days (limit 25 min)',
    );
  });

  test('tells what it is when nothing notable happened', () => {
    assert.equal(durationTitle(points(steady, 5), 7, null), 'p95 is 1 min 42 s over 7 days');
  });

  test('tells of the runs, and of no percentile, where no day has five', () => {
    assert.equal(
      durationTitle(points(rising, 4), 20, '25m'),
      'Runs rose from 12 min to 18 min in 20 days (limit 25 min)',
    );
    assert.equal(durationTitle(points(steady), 7, null), '6 runs took 1 min 38 s to 1 min 42 s in 7 days');
    assert.equal(durationTitle(points([60]), 7, '25m'), '1 run took 1 min in 7 days (limit 25 min)');
  });

  test('tells an all-failing CronJob and an idle one apart', () => {
    assert.equal(durationTitle(points([5, 6], 1, true), 30, null), 'None of 2 runs succeeded in 30 days');
    assert.equal(durationTitle([], 30, null), 'No run ended in 30 days');
  });
});

describe('a strip', () => {
  const run = {
    at: '2026-11-21T02:00:00.000Z',
    outcome: 'matched',
    status: 'success',
    durationSeconds: 60,
    jobName: 'backup-1',
  } as const;

  test('is as high as the run was long against p95', () => {
    assert.deepEqual(
      stripBars([run, { ...run, durationSeconds: 30 }], 60).map(({ share }) => share),
      [0.86, 0.43],
    );
  });

  test('has room for the line of a limit, unless no run comes near it', () => {
    const runs = [run, { ...run, durationSeconds: 240 }];
    assert.equal(limitShare(runs, 60, 120), 0.86);
    assert.deepEqual(
      stripBars(runs, 60, 120).map(({ share }) => share),
      [0.43, 1.72],
    );
    assert.equal(limitShare(runs, 60, 30), 0.43);
    assert.equal(limitShare(runs, 60, 3_600), undefined);
    assert.equal(limitShare(runs, 60, null), undefined);
  });

  test('has no bar of height zero where no duration is known', () => {
    assert.equal(stripBars([{ ...run, durationSeconds: null }])[0]?.share, 0.6);
  });

  test('lists only what it draws in its legend', () => {
    assert.deepEqual(
      marksIn([run, run, { ...run, status: 'failed' }]).map(({ word }) => word),
      ['Succeeded', 'Failed'],
    );
  });
});
