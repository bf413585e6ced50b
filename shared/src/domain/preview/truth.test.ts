import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AlertSubject, AlertType } from '../../contract/index.ts';
import { changesOf } from './patch.ts';
import type { PreviewedCronJob, PreviewedRun } from './history.ts';
import { judgedValues } from './judged-values.ts';
import { laneOf } from './lane.ts';
import type { PreviewedAlert } from './preview.ts';
import { suggestLimits } from './suggest-limits.ts';
import { tellTruth, truthOf } from './truth.ts';
import { hourMs, dayMs } from '../duration.ts';

const fromAt = Date.UTC(2026, 9, 5);
const range = { fromAt, toAt: fromAt + 30 * dayMs };

function run(atHour: number, status: 'success' | 'failed' = 'success', more: Partial<PreviewedRun> = {}): PreviewedRun {
  const createdAt = fromAt + atHour * hourMs;
  return {
    jobUid: `uid-${atHour}`,
    jobName: `nightly-${atHour}`,
    trigger: 'scheduled',
    scheduledAt: createdAt - 2_000,
    createdAt,
    startedAt: createdAt,
    finishedAt: createdAt + 60_000,
    status,
    durationMs: 60_000,
    exitCode: status === 'success' ? 0 : 1,
    reason: undefined,
    jobReason: undefined,
    inMaintenance: false,
    ...more,
  };
}

function cronJob(runs: readonly PreviewedRun[], more: Partial<PreviewedCronJob> = {}): PreviewedCronJob {
  const named = { uid: 'c', namespace: 'prod', name: 'nightly', createdAt: fromAt - dayMs, timeZone: 'UTC' };
  return { ...named, runs, slots: [], epochs: [], ...more };
}

/** Open between two hours of the range; `to` undefined: still. */
function alert(
  type: AlertType,
  from: number,
  to: number | undefined,
  more: Partial<PreviewedAlert> = {},
): PreviewedAlert {
  const sinceAt = fromAt + from * hourMs;
  return {
    type,
    subject: undefined,
    severity: 'warning',
    sinceAt,
    openedAt: sinceAt,
    activatedAt: sinceAt,
    endedAt: to === undefined ? undefined : fromAt + to * hourMs,
    message: '',
    channels: [],
    ...more,
  };
}

const missedAt = (hour: number) =>
  ({
    at: fromAt + hour * hourMs,
    outcome: 'missed',
    cause: undefined,
    decidedAt: fromAt + hour * hourMs + 120_000,
  }) as const;
const minuteOf = (hour: number): number => hour + 1 / 60;

function truthsOf(alerts: readonly PreviewedAlert[], of: PreviewedCronJob): (boolean | undefined)[] {
  return truthOf(alerts, of, range).alerts.map(({ truth }) => truth);
}
const missedIn = (alerts: readonly PreviewedAlert[], of: PreviewedCronJob): (string | undefined)[] =>
  truthOf(alerts, of, range).missed.map(({ jobName }) => jobName);

describe('an alert', () => {
  test('is true when the run that opened it failed, or one fails while it is open', () => {
    const opened = alert('jobFailed', minuteOf(24), minuteOf(48));
    assert.deepEqual(truthsOf([opened], cronJob([run(0), run(24, 'failed'), run(48)])), [true]);
    const slow = alert('slaBreached', 23, 30, { subject: 'maxDuration' });
    assert.deepEqual(truthsOf([slow], cronJob([run(22), run(24, 'failed'), run(48)])), [true]);
  });

  test('is true when an expected run was missed or passed its finishBy while it was open', () => {
    const missed = alert('missedSchedule', 24, minuteOf(48));
    assert.deepEqual(truthsOf([missed], cronJob([run(48)], { slots: [missedAt(24)] })), [true]);
    const late: AlertSubject = 'finishBy';
    const passed = alert('slaBreached', 30, 49, { subject: late });
    const regressed = alert('durationRegression', 29, 50);
    assert.deepEqual(truthsOf([passed, regressed], cronJob([run(24), run(48)])), [true, true]);
  });

  test('of a dead-man switch is true when the newest run before its limit went wrong', () => {
    const silent = alert('deadManTriggered', 25, minuteOf(48));
    assert.deepEqual(truthsOf([silent], cronJob([run(0), run(24, 'failed'), run(48)])), [true]);
    assert.deepEqual(truthsOf([silent], cronJob([run(0), run(48)])), [false]);
    const slow = alert('slaBreached', 25, minuteOf(48), { subject: 'maxDuration' });
    assert.deepEqual(
      truthsOf([slow], cronJob([run(24, 'failed'), run(48)])),
      [false],
      'a failure before opened it not',
    );
  });

  test('is false when the next expected run succeeded, and open to doubt until there is one', () => {
    const slow = alert('slaBreached', minuteOf(24), minuteOf(30), { subject: 'maxDuration' });
    assert.deepEqual(truthsOf([slow], cronJob([run(24), run(48)])), [false]);
    assert.deepEqual(truthsOf([slow], cronJob([run(24)])), [undefined], 'the run itself is not the next one');
    assert.deepEqual(truthsOf([slow], cronJob([run(24), run(48, 'failed')])), [undefined]);
  });

  test('is not judged by runs by hand or in maintenance, but by every run of a group of Jobs', () => {
    const open = alert('jobFailed', 24, minuteOf(48));
    const byHand = run(24, 'failed', { trigger: 'manual' });
    assert.deepEqual(truthsOf([open], cronJob([byHand, run(48)])), [false]);
    assert.deepEqual(truthsOf([open], cronJob([run(24, 'failed', { inMaintenance: true }), run(48)])), [false]);
    assert.deepEqual(truthsOf([open], cronJob([byHand, run(48)], { name: '~loader' })), [true]);
  });
});

describe('a run that went wrong', () => {
  const failing = cronJob([run(0), run(24, 'failed'), run(48), run(72, 'failed')]);

  test('is missed out when no alert was open before the next success, or until now', () => {
    assert.deepEqual(missedIn([], failing), ['nightly-24', 'nightly-72']);
    const late = alert('jobFailed', 40, minuteOf(48));
    assert.deepEqual(missedIn([late], failing), ['nightly-72'], 'told at last');
    const afterwards = alert('slaBreached', 49, undefined, { subject: 'successRate' });
    assert.deepEqual(missedIn([afterwards], failing), ['nightly-24']);
  });

  test('is told while an alert flaps: it was open when it became active first', () => {
    const flapping = alert('jobFailed', minuteOf(24), minuteOf(60), { activatedAt: fromAt + 55 * hourMs });
    assert.deepEqual(missedIn([flapping], failing), ['nightly-72']);
  });

  test('counts when it was missed, and not before the range', () => {
    assert.deepEqual(missedIn([], cronJob([run(-24, 'failed')], { slots: [missedAt(24)] })), [undefined]);
  });
});

test('what came of rules is one sentence', () => {
  const of = (right: number, wrong: number, open: number): { truth: boolean | undefined }[] => [
    ...Array.from({ length: right }, () => ({ truth: true })),
    ...Array.from({ length: wrong }, () => ({ truth: false })),
    ...Array.from({ length: open }, () => ({ truth: undefined })),
  ];
  assert.equal(tellTruth(of(3, 0, 0), 0).wordsOf(30), 'These rules raise 3 alerts in 30 days, all true');
  assert.equal(tellTruth(of(1, 0, 0), 0).wordsOf(1), 'These rules raise 1 alert in 1 day, true');
  const mixed = tellTruth(of(3, 5, 1), 1);
  assert.equal(
    mixed.wordsOf(30),
    'These rules raise 9 alerts in 30 days, 3 true, 5 false, 1 not decided yet and miss 1 run that went wrong',
  );
  assert.deepEqual(mixed.truth, { true: 3, false: 5, missed: 1 });
  assert.equal(tellTruth([], 0).wordsOf(7), 'These rules raise no alert in 7 days');
  assert.equal(tellTruth(of(0, 5, 0), 0).flagWords, '5 alerts, all false');
  assert.equal(tellTruth([], 2).flagWords, '');
});

test('an alert is kept when the rules in force raise one of its kind while it is open; the rest is new or gone', () => {
  const was = [alert('jobFailed', 24, 30), alert('deadManTriggered', 50, 60)];
  const is = [alert('jobFailed', 28, 40), alert('slaBreached', 50, undefined), alert('jobFailed', 90, undefined)];
  const { changeOf, gone } = changesOf(was, is);
  assert.deepEqual(is.map(changeOf), ['kept', 'new', 'new']);
  assert.deepEqual(
    gone.map(({ type }) => type),
    ['deadManTriggered'],
  );
});

test('each limit has the values that it judges, with percentiles of all', () => {
  const runs = [run(0), run(24, 'failed'), run(48, 'success', { durationMs: 600_000 }), run(72)];
  const found = judgedValues([cronJob(runs)], { fromAt, toAt: fromAt + 4 * dayMs }, 7);
  const of = (path: string) => found.find((one) => one.path === path);
  assert.deepEqual(of('spec.deadManSwitch.maxTimeSinceLastSuccess')?.values, [24 * 3600, 48 * 3600]);
  assert.deepEqual(of('spec.sla.maxDuration'), {
    path: 'spec.sla.maxDuration',
    unit: 'seconds',
    count: 3,
    p50: 60,
    p95: 600,
    max: 600,
    values: [60, 60, 600],
  });
  assert.deepEqual(of('spec.sla.minSuccessRate')?.values, [50, 66.67, 75, 75]);
  assert.deepEqual(of('spec.missedSchedule.grace')?.values, [2, 2, 2]);
  const many = Array.from({ length: 1_000 }, (_, index) => run(index / 2, 'success', { durationMs: index * 1_000 }));
  const durations = judgedValues([cronJob(many)], range, 7).find(({ path }) => path === 'spec.sla.maxDuration');
  assert.deepEqual(
    [durations?.count, durations?.values.length, durations?.values[0], durations?.values.at(-1), durations?.p50],
    [1_000, 200, 0, 999, 499],
  );
  assert.deepEqual(judgedValues([cronJob([])], range, 7), []);
});

test('a lane counts what ended in each cell, and says what it comes to', () => {
  const lane = laneOf(cronJob([run(1), run(2), run(24, 'failed')], { slots: [missedAt(25)] }), range);
  assert.deepEqual(lane.cells, [
    { cell: 0, ok: 2, failed: 0, missed: 0 },
    { cell: 4, ok: 0, failed: 1, missed: 1 },
  ]);
  assert.equal(lane.words, '3 runs, 1 failed, 1 missed');
  assert.equal(lane.recordedFromAt, fromAt + hourMs);
  assert.equal(laneOf(cronJob([run(1), run(2)]), range).words, '2 runs, all succeeded');
  assert.deepEqual(laneOf(cronJob([]), range), { cells: [], words: 'no run', recordedFromAt: undefined });
});

describe('limits that history suggests', () => {
  const daily = (name: string, everyHours: number, minutes: number): PreviewedCronJob =>
    cronJob(
      Array.from({ length: 8 }, (_, index) => run(index * everyHours, 'success', { durationMs: minutes * 60_000 })),
      { name },
    );
  const suggested = (...of: readonly PreviewedCronJob[]) =>
    suggestLimits(of, { fromAt, toAt: fromAt + 60 * dayMs }).map(({ path, value }) => [path, value]);

  test('leave half as much again above the 99th percentile of the CronJob that needs most, and say why', () => {
    const [longest] = suggestLimits([daily('backup', 24, 18), daily('report', 24, 3)], range);
    assert.deepEqual(longest, {
      path: 'spec.sla.maxDuration',
      value: '27m',
      why: 'p99 of 8 runs of prod/backup is 18 min',
      runs: 8,
    });
  });

  test('are one time without success where all have one rhythm, and else what comes on top of the schedule', () => {
    assert.deepEqual(suggested(daily('backup', 24, 20), daily('report', 24, 3)), [
      ['spec.sla.maxDuration', '30m'],
      ['spec.deadManSwitch.maxTimeSinceLastSuccess', '25h'],
    ]);
    assert.deepEqual(suggested(daily('backup', 24, 20), daily('vacuum', 168, 100)), [
      ['spec.sla.maxDuration', '2h30m'],
      ['spec.deadManSwitch.autoFromSchedule.buffer', '2h30m'],
    ]);
  });

  test('are not made of fewer than three runs', () => {
    assert.deepEqual(suggested(cronJob([run(0), run(24)])), []);
  });

  test('give a start the time that it needs, when that is more than a minute', () => {
    const late = Array.from({ length: 6 }, (_, index) => {
      const one = run(index * 24);
      return { ...one, scheduledAt: one.createdAt - 4 * 60_000 };
    });
    assert.deepEqual(
      suggested(cronJob(late)).find(([path]) => path === 'spec.missedSchedule.grace'),
      ['spec.missedSchedule.grace', '6m'],
    );
  });
});
