import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elapsedMs, judgeConditions, type JobCondition } from './outcome.ts';

const condition = (type: string, sinceAt: number, changes: Partial<JobCondition> = {}): JobCondition => ({
  type,
  holds: true,
  reason: `${type}Reason`,
  message: `${type} message`,
  sinceAt,
  ...changes,
});

const judge = (conditions: readonly JobCondition[], completedAt?: number): ReturnType<typeof judgeConditions> =>
  judgeConditions(conditions, { begunAt: 5, completedAt });

test('a Complete Job succeeded at its completion time', () => {
  const verdict = judge([condition('SuccessCriteriaMet', 10), condition('Complete', 20)], 15);
  assert.deepEqual(verdict, {
    outcome: 'success',
    endedAt: 15,
    decidedAs: undefined,
    decidedAt: 10,
    reason: 'CompleteReason',
    message: 'Complete message',
    suspended: false,
  });
});

test('a Complete Job without a completion time ended when its condition came to hold', () => {
  assert.equal(judge([condition('Complete', 20)]).endedAt, 20);
});

test('a Failed Job ended when the condition Failed came to hold, not when FailureTarget did', () => {
  const verdict = judge([condition('FailureTarget', 10), condition('Failed', 40)]);
  assert.equal(verdict.outcome, 'failed');
  assert.equal(verdict.endedAt, 40);
  assert.equal(verdict.reason, 'FailedReason');
});

test('a Failed Job of which no time was written ended at its begin: without an end it would be told to no channel', () => {
  assert.equal(judge([condition('Failed', 0, { sinceAt: undefined })]).endedAt, 5);
});

for (const [type, decidedAs] of [
  ['FailureTarget', 'failed'],
  ['SuccessCriteriaMet', 'success'],
] as const) {
  test(`${type} alone decides and is no outcome`, () => {
    const verdict = judge([condition(type, 10)]);
    assert.equal(verdict.outcome, undefined);
    assert.equal(verdict.endedAt, undefined);
    assert.equal(verdict.decidedAs, decidedAs);
    assert.equal(verdict.decidedAt, 10);
    assert.equal(verdict.reason, `${type}Reason`);
  });
}

test('a condition that does not hold says nothing', () => {
  const verdict = judge([condition('Failed', 10, { holds: false }), condition('Suspended', 10, { holds: false })]);
  assert.equal(verdict.outcome, undefined);
  assert.equal(verdict.suspended, false);
});

test('a suspended Job is suspended until it has ended', () => {
  assert.equal(judge([condition('Suspended', 10)]).suspended, true);
  assert.equal(judge([condition('Suspended', 10), condition('Failed', 20)]).suspended, false);
});

test('a duration is never negative, and unknown when start or end is', () => {
  assert.equal(elapsedMs(1000, 161_000), 160_000);
  assert.equal(elapsedMs(5000, 4000), 0);
  assert.equal(elapsedMs(undefined, 4000), undefined);
  assert.equal(elapsedMs(1000, undefined), undefined);
});
