import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadManTriggered, type DeadManFacts, type DeadManRule } from './dead-man.ts';

const hour = 3_600_000;
const rule: DeadManRule = { enabled: true, maxSinceSuccessMs: 25 * hour, auto: undefined, pauseMonitoring: true };
const facts: DeadManFacts = {
  suspended: false,
  lastSuccessAt: 0,
  resumedAt: undefined,
  p95DurationMs: undefined,
  nthSlotAfter: (after, n) => after + n * 24 * hour,
};

// at: hours after the last success; since: hours, undefined = quiet
const cases: {
  says: string;
  rule?: Partial<DeadManRule>;
  facts?: Partial<DeadManFacts>;
  at: number;
  since?: number;
  reason?: string;
}[] = [
  { says: 'quiet within the limit', at: 24, reason: 'withinLimit' },
  { says: 'holds at the limit, since the limit', at: 25, since: 25 },
  { says: 'since does not move with time', at: 90, since: 25 },
  { says: 'needs one earlier success', facts: { lastSuccessAt: undefined }, at: 90, reason: 'neverSucceeded' },
  { says: 'rests while suspended', facts: { suspended: true }, at: 90, reason: 'paused' },
  {
    says: 'does not rest when told not to',
    rule: { pauseMonitoring: false },
    facts: { suspended: true },
    at: 90,
    since: 25,
  },
  { says: 'counts from the resume when that is later', facts: { resumedAt: 10 * hour }, at: 30, reason: 'withinLimit' },
  { says: 'a resume before the last success moves nothing', facts: { resumedAt: -5 * hour }, at: 25, since: 25 },
  {
    says: 'without pausing the resume moves nothing',
    rule: { pauseMonitoring: false },
    facts: { resumedAt: 10 * hour },
    at: 30,
    since: 25,
  },
  {
    says: 'by the schedule: the next slot, p95 of the duration and the buffer',
    rule: { maxSinceSuccessMs: undefined, auto: { bufferMs: hour, missedScheduleThreshold: 1 } },
    facts: { p95DurationMs: 2 * hour },
    at: 28,
    since: 27,
  },
  {
    says: 'by the schedule: the second slot when two may be missed',
    rule: { maxSinceSuccessMs: undefined, auto: { bufferMs: hour, missedScheduleThreshold: 2 } },
    at: 48,
    reason: 'withinLimit',
  },
  {
    says: 'the fixed time wins over the schedule',
    rule: { auto: { bufferMs: 0, missedScheduleThreshold: 1 } },
    at: 24.5,
    reason: 'withinLimit',
  },
  {
    says: 'neither time nor schedule: never due',
    rule: { maxSinceSuccessMs: undefined },
    at: 1000,
    reason: 'neverDue',
  },
  { says: 'switched off', rule: { enabled: false }, at: 90, reason: 'notConfigured' },
];

for (const { says, rule: ruleMore, facts: factsMore, at, since, reason } of cases) {
  test(`deadManTriggered: ${says}`, () => {
    const verdict = deadManTriggered({ ...rule, ...ruleMore }, { ...facts, ...factsMore }, at * hour);
    if (since === undefined)
      assert.deepEqual([verdict.kind, verdict.kind !== 'holds' && verdict.reason], ['quiet', reason]);
    else assert.equal(verdict.kind === 'holds' ? verdict.since : undefined, since * hour);
  });
}

test('deadManTriggered within its limit says when to ask again', () => {
  const verdict = deadManTriggered(rule, facts, hour);
  assert.equal(verdict.kind === 'quiet' && verdict.dueAt, 25 * hour);
});

test('deadManTriggered tells how long and against which limit', () => {
  const verdict = deadManTriggered(rule, facts, 26 * hour);
  assert.deepEqual(verdict.kind === 'holds' && verdict.figures, {
    measured: 26 * 3600,
    limit: 25 * 3600,
    unit: 'seconds',
  });
});
