import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitsRecord, endedTooSoon, tookTooLong, type DurationFacts } from './duration-limits.ts';
import { notFinishedBy } from './finish-by.ts';
import {
  rateBelowSince,
  recoveryMargin,
  successRateBelow,
  type RatedRun,
  type SuccessRateRule,
} from './success-rate.ts';
import type { Verdict } from './verdict.ts';

const minute = 60_000;
const kindOf = (verdict: Verdict) => verdict.kind;

const rateRule: SuccessRateRule = { enabled: true, minSuccessRate: 95, windowDays: 7, minRuns: 1 };
// open: undefined = no alert; a number = evaluations in a row that found the rate good
const rates: {
  says: string;
  rule?: Partial<SuccessRateRule>;
  success: number;
  failed: number;
  open?: number;
  kind: Verdict['kind'];
}[] = [
  { says: 'a rate at the minimum is no breach', success: 95, failed: 5, kind: 'quiet' },
  { says: 'a rate below the minimum is one', success: 94, failed: 6, kind: 'holds' },
  { says: 'no run is no breach', success: 0, failed: 0, kind: 'quiet' },
  { says: 'too few runs are no breach', rule: { minRuns: 5 }, success: 0, failed: 4, kind: 'quiet' },
  { says: 'enough runs are', rule: { minRuns: 5 }, success: 0, failed: 5, kind: 'holds' },
  {
    says: 'an open alert with too few runs does not move',
    rule: { minRuns: 5 },
    success: 0,
    failed: 4,
    open: 0,
    kind: 'undecided',
  },
  { says: 'an open alert without any run in the window is over', success: 0, failed: 0, open: 0, kind: 'quiet' },
  { says: 'just above the minimum an open alert still holds', success: 952, failed: 48, open: 5, kind: 'holds' },
  { says: 'a point above it holds for one more evaluation', success: 96, failed: 4, open: 0, kind: 'holds' },
  { says: 'and ends with the second', success: 96, failed: 4, open: 1, kind: 'quiet' },
  {
    says: 'a minimum of 100 can be met again',
    rule: { minSuccessRate: 100 },
    success: 10,
    failed: 0,
    open: 1,
    kind: 'quiet',
  },
  { says: 'switched off', rule: { enabled: false }, success: 0, failed: 9, kind: 'quiet' },
];
for (const { says, rule, success, failed, open, kind } of rates) {
  test(`successRate: ${says}`, () => {
    const facts = { success, failed, lastRunAt: 5, openGoodEvaluations: open };
    assert.equal(kindOf(successRateBelow({ ...rateRule, ...rule }, facts, 10)), kind);
  });
}

test('a rate is below its minimum since the run that made it so, or since a success left its window', () => {
  const day = 86_400_000;
  const run = (atDay: number, status: RatedRun['status']): RatedRun => ({ endedAt: atDay * day, status });
  const sinceDay = (runs: readonly RatedRun[], nowDay: number, rule: Partial<SuccessRateRule> = {}) => {
    const since = rateBelowSince({ ...rateRule, minSuccessRate: 50, ...rule }, runs, nowDay * day);
    return since === undefined ? undefined : since / day;
  };
  const runs = [run(1, 'success'), run(2, 'failed'), run(3, 'failed'), run(4, 'failed')];
  assert.equal(sinceDay(runs, 2), undefined, 'half of them is no breach');
  assert.equal(sinceDay(runs, 3), 3);
  assert.equal(sinceDay(runs, 6), 3, 'a later failure begins nothing anew');
  assert.equal(sinceDay(runs.toReversed(), 6), 3, 'whatever their order');
  assert.equal(
    sinceDay([...runs, run(4.1, 'success'), run(4.2, 'success'), run(5, 'failed')], 6),
    5,
    'it was met between',
  );
  assert.equal(sinceDay([run(1, 'success'), run(2, 'failed')], 8.5), 8, 'a success left');
  assert.equal(sinceDay(runs, 11), undefined, 'no run is left');
  assert.equal(sinceDay([run(1, 'failed'), run(2, 'failed')], 3, { minRuns: 2 }), 2, 'as soon as they are enough');
});

test('the margin of recovery never asks for more than all runs', () => {
  assert.deepEqual([90, 99, 99.5, 100].map(recoveryMargin), [1, 0.5, 0.25, 0]);
});

const limits = { enabled: true, maxDurationMs: 45 * minute, minDurationMs: 2 * minute };
const run = (minutes: number, endedAt = 100 * minute) => ({ jobName: 'j', endedAt, durationMs: minutes * minute });
const durations = (more: Partial<DurationFacts>): DurationFacts => ({
  lastEnded: undefined,
  lastSuccess: undefined,
  running: [],
  ...more,
});

test('maxDuration: the newest ended run decides, since the moment it passed the limit', () => {
  const verdict = tookTooLong(limits, durations({ lastEnded: run(52) }), 200 * minute);
  assert.equal(verdict.kind === 'holds' && verdict.since, 93 * minute);
  assert.equal(kindOf(tookTooLong(limits, durations({ lastEnded: run(45) }), 200 * minute)), 'quiet');
});

test('maxDuration: a running Job breaches it while it runs, and before that says when', () => {
  const running = [{ jobName: 'r', startedAt: 0 }];
  const before = tookTooLong(limits, durations({ running }), 44 * minute);
  assert.equal(before.kind === 'quiet' && before.dueAt, 45 * minute);
  const after = tookTooLong(limits, durations({ running }), 50 * minute);
  assert.deepEqual(after.kind === 'holds' && [after.since, after.reason], [45 * minute, 'runningTooLong']);
});

test('maxDuration: a run that ended in time does not hide one that goes on too long', () => {
  const facts = durations({ lastEnded: run(3), running: [{ jobName: 'r', startedAt: 0 }] });
  assert.equal(kindOf(tookTooLong(limits, facts, 60 * minute)), 'holds');
});

test('minDuration: only a success can be suspiciously fast', () => {
  assert.equal(kindOf(endedTooSoon(limits, durations({ lastSuccess: run(1) }))), 'holds');
  assert.equal(kindOf(endedTooSoon(limits, durations({ lastSuccess: run(2) }))), 'quiet');
  assert.equal(kindOf(endedTooSoon(limits, durations({ lastEnded: run(1) }))), 'quiet');
});

test('limits that are not set hold for nothing', () => {
  const none = { enabled: true, maxDurationMs: undefined, minDurationMs: undefined };
  assert.equal(kindOf(tookTooLong(none, durations({ lastEnded: run(999) }), 0)), 'quiet');
  assert.equal(kindOf(endedTooSoon(none, durations({ lastSuccess: run(0) }))), 'quiet');
});

const by = { enabled: true, time: '06:00', timeZone: 'Europe/Zurich' };
const day = (finishedAt: number | undefined, expectedSlots = 1) => ({
  last: { deadlineAt: 600, expectedSlots, finishedAt },
  nextDeadlineAt: 2_000,
});
test('finishBy: nothing finished by the deadline holds from the deadline on', () => {
  const verdict = notFinishedBy(by, day(undefined), 700);
  assert.equal(verdict.kind === 'holds' && verdict.since, 600);
});
test('finishBy: a success in time, or late, ends it', () => {
  assert.equal(kindOf(notFinishedBy(by, day(599), 700)), 'quiet');
  assert.equal(kindOf(notFinishedBy(by, day(650), 700)), 'quiet');
});
test('finishBy: a day without an expected run has no deadline', () => {
  assert.equal(kindOf(notFinishedBy(by, day(undefined, 0), 700)), 'quiet');
});

test('a run that has ended waits for its record, for ten minutes at most, and an older one or the recorded one does not', () => {
  const last = { jobName: 'nightly-2', endedAt: 100 * minute, durationMs: minute };
  const waits = (jobName: string, endedAt: number, lastEnded: typeof last | undefined = last): boolean =>
    awaitsRecord([{ jobName, endedAt }], lastEnded, 109 * minute);
  assert.deepEqual(
    [
      waits('nightly-3', 105 * minute),
      waits('nightly-2', 105 * minute),
      waits('nightly-1', 90 * minute),
      waits('nightly-1', 105 * minute, undefined),
      waits('nightly-1', 98 * minute, undefined),
    ],
    [true, false, false, true, false],
  );
});
