import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertRules } from '../alert/alert.ts';
import type { DetectionRules } from '../detect/chain.ts';
import type { PreviewedCronJob, PreviewedRun } from './history.ts';
import { previewCronJob, type PreviewedAlert } from './preview.ts';
import { minuteMs, hourMs, dayMs } from '../duration.ts';
import { aJobFailedRule, alertRulesTo } from '../../testing/rules.ts';

const fromAt = Date.UTC(2026, 9, 5);

const detection: DetectionRules = {
  jobFailed: aJobFailedRule(),
  missedSchedule: { enabled: true, threshold: 1, skipWarnAfter: undefined, graceMs: 2 * minuteMs },
  deadMan: undefined,
  durations: undefined,
  successRate: undefined,
  finishBy: undefined,
  regression: undefined,
  output: undefined,
  stuck: { notStarted: undefined, overrunning: undefined, terminating: undefined },
  suspended: { alertIfSuspendedForMs: undefined },
  pauseMonitoring: true,
};

const alerts = alertRulesTo([], {
  alerting: {
    enabled: true,
    channelRefs: [
      { name: 'team-chat', severities: [] },
      { name: 'on-call', severities: ['critical'] },
    ],
  },
});

/** A run that began so many minutes after the range and took half a minute. */
function run(atMinute: number, exitCode = 0): PreviewedRun {
  const createdAt = fromAt + atMinute * minuteMs;
  const finishedAt = createdAt + 30_000;
  return {
    jobUid: `uid-${atMinute}`,
    jobName: `hourly-${atMinute}`,
    trigger: 'manual',
    scheduledAt: undefined,
    createdAt,
    startedAt: createdAt,
    finishedAt,
    status: exitCode === 0 ? 'success' : 'failed',
    durationMs: 30_000,
    exitCode,
    reason: exitCode === 0 ? undefined : 'Error',
    jobReason: undefined,
    inMaintenance: false,
  };
}

function preview(
  runs: readonly PreviewedRun[],
  changes: { readonly detection?: Partial<DetectionRules>; readonly alerts?: Partial<AlertRules> } = {},
  of: Partial<PreviewedCronJob> = {},
): PreviewedAlert[] {
  const rules = { detection: { ...detection, ...changes.detection }, alerts: { ...alerts, ...changes.alerts } };
  const cronJob = { uid: 'c', namespace: 'prod', name: 'hourly', createdAt: fromAt - dayMs, timeZone: 'UTC' };
  return previewCronJob(
    rules,
    { ...cronJob, runs, slots: [], epochs: [], ...of },
    { fromAt, toAt: fromAt + dayMs, skewP99Ms: 1_000 },
  );
}

const inMinutes = (at: number | undefined): number | undefined => at && (at - fromAt) / minuteMs;
const spansOf = (found: readonly PreviewedAlert[]) =>
  found.map(({ activatedAt, endedAt }) => [inMinutes(activatedAt), inMinutes(endedAt)]);

test('a failure is told when its run ends, to the channels that take its severity, until a run succeeds', () => {
  const found = preview([run(0), run(60, 3), run(120)]);
  assert.deepEqual(spansOf(found), [[60.5, 120.5]]);
  assert.deepEqual(
    found.map(({ type, severity, channels }) => [type, severity, channels]),
    [['jobFailed', 'warning', ['team-chat']]],
  );
  const [critical] = preview([run(60, 3)], { alerts: { severityOverrides: { jobFailed: 'critical' } } });
  assert.deepEqual([critical?.channels, critical?.endedAt], [['on-call', 'team-chat'], undefined]);
});

test('of runs that end in one second the one whose Job was made later is the newest, as where they are judged live', () => {
  const ends = { finishedAt: fromAt + 90 * minuteMs };
  const failed = { ...run(60, 3), ...ends, jobUid: 'uid-b' };
  assert.deepEqual(spansOf(preview([{ ...run(80), ...ends, jobUid: 'uid-a' }, failed])), [], 'it succeeded last');
  assert.deepEqual(spansOf(preview([{ ...run(40), ...ends, jobUid: 'uid-c' }, failed])), [[90, undefined]]);
});

test('what clears within alertDelay is told to no channel, and what lasts is told when the delay is over', () => {
  const delay = { alerts: { alertDelayMs: 45 * minuteMs } };
  assert.deepEqual(preview([run(60, 3), run(90)], delay), []);
  assert.deepEqual(spansOf(preview([run(60, 3), run(180)], delay)), [[105.5, 180.5]]);
});

test('a failure in a maintenance window is told when the window ends over it', () => {
  const window = { name: 'mornings', schedule: '0 1 * * *', durationMs: 2 * hourMs, timeZone: 'UTC' };
  const windows = [{ ...window, suppressAlerts: true, excludeFromSla: false }];
  const [held, ...others] = preview([run(60, 3), run(300)], { alerts: { windows } });
  assert.deepEqual([inMinutes(held?.activatedAt), inMinutes(held?.endedAt), others], [180, 300.5, []]);
  assert.deepEqual(preview([run(60, 3), run(120)], { alerts: { windows } }), [], 'it cleared inside');
});

test('what returns within the duplicate window is the same alert, and later another one', () => {
  assert.equal(preview([run(60, 3), run(70), run(80, 3), run(90)]).length, 1);
  assert.equal(preview([run(60, 3), run(70), run(180, 3), run(190)]).length, 2);
});

test('the fourth change within an hour is flapping: the alert stays until an hour went by without one', () => {
  const changes = [60, 70, 80, 90].map((minute, index) => run(minute, index % 2 === 0 ? 3 : 0));
  const [flapping, ...others] = preview([...changes, run(240)]);
  assert.deepEqual(others, []);
  assert.equal(inMinutes(flapping?.activatedAt), 80.5, 'when it became active last');
  assert.equal(inMinutes(flapping?.endedAt), 150.5, 'an hour after the change at 90');
});

test('a missed run is an alert from the instant at which the ledger told it', () => {
  const at = fromAt + 2 * hourMs;
  const slots = [{ at, outcome: 'missed', cause: undefined, decidedAt: at + 5 * minuteMs }] as const;
  const [missed] = preview([], {}, { slots });
  assert.deepEqual([missed?.type, missed?.sinceAt, inMinutes(missed?.activatedAt)], ['missedSchedule', at, 125]);
});

test('runs that ended before the range open nothing', () => {
  assert.deepEqual(preview([run(-60, 3)]), []);
});

test('a failure of a parent that was told holds the message back, and what outlasts it is told when twice the grace is over', () => {
  const at = (minute: number): number => fromAt + minute * minuteMs;
  const parent = {
    id: 'p',
    type: 'jobFailed',
    severity: 'warning',
    toldAt: at(30),
    fromAt: at(30),
    untilAt: at(90),
  } as const;
  const told = (parents: readonly object[], more: readonly PreviewedRun[] = []) => {
    const changes = { alerts: { recoveryMs: 10 * minuteMs } };
    const [found] = preview([run(60, 3), ...more], changes, { parents: parents as PreviewedCronJob['parents'] });
    return [found?.channels, inMinutes(found?.endedAt)];
  };
  assert.deepEqual(told([parent], [run(80)]), [[], 80.5], 'it ended while it waited');
  assert.deepEqual(told([parent], [run(95)]), [[], 95.5], 'and while it was left to its next run');
  assert.deepEqual(told([parent], [run(101.5)]), [['team-chat'], 102]);
  assert.deepEqual(told([{ ...parent, toldAt: undefined }], [run(80)]), [['team-chat'], 80.5]);
  assert.deepEqual(told([{ ...parent, untilAt: at(59) }], [run(80)]), [['team-chat'], 80.5], 'it was well by then');
});
