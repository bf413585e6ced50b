import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadManDue, deadManTriggered, neverSucceeded, type DeadManFacts, type DeadManRule } from './dead-man.ts';

const hour = 3_600_000;
const rule: DeadManRule = {
  enabled: true,
  maxSinceSuccessMs: 25 * hour,
  auto: undefined,
  fromCreation: true,
  pauseMonitoring: true,
};
const facts: DeadManFacts = {
  suspended: false,
  lastSuccessAt: 0,
  originAt: 0,
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
  { says: 'needs one earlier success', facts: { lastSuccessAt: undefined }, at: 90, reason: 'noSuccessToCountFrom' },
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

const never: DeadManFacts = {
  ...facts,
  lastSuccessAt: undefined,
  originAt: 6 * hour,
  // Daily, at 10 hours of each day.
  nthSlotAfter: (after, n) => (Math.floor((after - 10 * hour) / (24 * hour)) + n) * 24 * hour + 10 * hour,
  unsuccessful: { failed: 3, running: 1 },
};
const byPlan = { maxSinceSuccessMs: undefined, auto: { bufferMs: hour, missedScheduleThreshold: 2 } };

// at: hours; since: hours, undefined = quiet
const neverCases: {
  says: string;
  rule?: Partial<DeadManRule>;
  facts?: Partial<DeadManFacts>;
  at: number;
  since?: number;
  reason?: string;
}[] = [
  { says: 'quiet until the first run that was due had its time', at: 34, reason: 'withinLimit' },
  { says: 'holds from then on', at: 35, since: 35 },
  { says: 'since does not move with time', at: 900, since: 35 },
  { says: 'a run due at the very origin is the first', facts: { originAt: 10 * hour }, at: 35, since: 35 },
  {
    says: 'a run due just before the origin is not',
    facts: { originAt: 10 * hour + 1 },
    at: 35,
    reason: 'withinLimit',
  },
  { says: 'any success ends it', facts: { lastSuccessAt: 7 * hour }, at: 900, reason: 'hasSucceeded' },
  { says: 'rests while suspended', facts: { suspended: true }, at: 900, reason: 'paused' },
  { says: 'counts from the resume', facts: { resumedAt: 11 * hour }, at: 58, reason: 'withinLimit' },
  { says: 'counts from the resume, and holds in its time', facts: { resumedAt: 11 * hour }, at: 59, since: 59 },
  {
    says: 'without pausing the resume moves nothing',
    rule: { pauseMonitoring: false },
    facts: { resumedAt: 11 * hour },
    at: 35,
    since: 35,
  },
  { says: 'by the schedule: the second run and the buffer', rule: byPlan, at: 35, since: 35 },
  {
    says: 'by the schedule, from a run at the very origin',
    rule: byPlan,
    facts: { originAt: 10 * hour },
    at: 35,
    since: 35,
  },
  {
    says: 'a schedule that never comes is never due',
    facts: { nthSlotAfter: () => undefined },
    at: 900,
    reason: 'neverDue',
  },
  { says: 'off without fromCreation', rule: { fromCreation: false }, at: 900, reason: 'notConfigured' },
  { says: 'off with the switch', rule: { enabled: false }, at: 900, reason: 'notConfigured' },
];

for (const { says, rule: ruleMore, facts: factsMore, at, since, reason } of neverCases) {
  test(`neverSucceeded: ${says}`, () => {
    const verdict = neverSucceeded({ ...rule, ...ruleMore }, { ...never, ...factsMore }, at * hour);
    if (since === undefined)
      assert.deepEqual([verdict.kind, verdict.kind !== 'holds' && verdict.reason], ['quiet', reason]);
    else assert.equal(verdict.kind === 'holds' ? verdict.since : undefined, since * hour);
  });
}

test('neverSucceeded tells when the first run was due, and what became of the runs', () => {
  const verdict = neverSucceeded(rule, never, 36 * hour);
  assert.ok(verdict.kind === 'holds');
  assert.deepEqual(verdict.figures, { measured: 26 * 3600, limit: 25 * 3600, unit: 'seconds' });
  assert.deepEqual(verdict.detail, { firstSlotAt: 10 * hour, failedRuns: 3, runningRuns: 1 });
  const replacing = { ...never, unsuccessful: { failed: 0, stopped: 4, running: 1 } };
  const replaced = neverSucceeded(rule, replacing, 36 * hour);
  assert.ok(replaced.kind === 'holds');
  assert.deepEqual(replaced.detail, { firstSlotAt: 10 * hour, failedRuns: 0, stoppedRuns: 4, runningRuns: 1 });
});

test('never both: the switch counts from a success, absence until there is one', () => {
  assert.equal(deadManTriggered(rule, never, 900 * hour).kind, 'quiet');
  assert.equal(neverSucceeded(rule, facts, 900 * hour).kind, 'quiet');
});

test('deadManDue names what is counted from, also when it has passed', () => {
  assert.deepEqual(deadManDue(rule, facts, hour), { at: 25 * hour, basis: 'success' });
  assert.deepEqual(deadManDue(rule, never, hour), { at: 35 * hour, basis: 'firstSlot' });
  assert.deepEqual(deadManDue(rule, never, 900 * hour), { at: 35 * hour, basis: 'firstSlot' });
  assert.equal(deadManDue(rule, { ...never, suspended: true }, hour), undefined);
});
