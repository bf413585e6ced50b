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

test('a Complete Job succeeded at its completion time', () => {
  const verdict = judgeConditions([condition('SuccessCriteriaMet', 10), condition('Complete', 20)], 15);
  assert.deepEqual(verdict, {
    outcome: 'success',
    endedAt: 15,
    decidedAs: undefined,
    decidedAt: undefined,
    reason: 'CompleteReason',
    message: 'Complete message',
    suspended: false,
  });
});

test('a Complete Job without a completion time ended when its condition came to hold', () => {
  assert.equal(judgeConditions([condition('Complete', 20)], undefined).endedAt, 20);
});

test('a Failed Job ended when the condition Failed came to hold, not when FailureTarget did', () => {
  const verdict = judgeConditions([condition('FailureTarget', 10), condition('Failed', 40)], undefined);
  assert.equal(verdict.outcome, 'failed');
  assert.equal(verdict.endedAt, 40);
  assert.equal(verdict.reason, 'FailedReason');
});

for (const [type, decidedAs] of [
  ['FailureTarget', 'failed'],
  ['SuccessCriteriaMet', 'success'],
] as const) {
  test(`${type} alone decides and is no outcome`, () => {
    const verdict = judgeConditions([condition(type, 10)], undefined);
    assert.equal(verdict.outcome, undefined);
    assert.equal(verdict.endedAt, undefined);
    assert.equal(verdict.decidedAs, decidedAs);
    assert.equal(verdict.decidedAt, 10);
    assert.equal(verdict.reason, `${type}Reason`);
  });
}

test('a condition that does not hold says nothing', () => {
  const verdict = judgeConditions(
    [condition('Failed', 10, { holds: false }), condition('Suspended', 10, { holds: false })],
    undefined,
  );
  assert.equal(verdict.outcome, undefined);
  assert.equal(verdict.suspended, false);
});

test('a suspended Job is suspended until it has ended', () => {
  assert.equal(judgeConditions([condition('Suspended', 10)], undefined).suspended, true);
  assert.equal(judgeConditions([condition('Suspended', 10), condition('Failed', 20)], undefined).suspended, false);
});

test('a duration is never negative, and unknown when start or end is', () => {
  assert.equal(elapsedMs(1000, 161_000), 160_000);
  assert.equal(elapsedMs(5000, 4000), 0);
  assert.equal(elapsedMs(undefined, 4000), undefined);
  assert.equal(elapsedMs(1000, undefined), undefined);
});
