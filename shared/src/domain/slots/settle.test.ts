import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpecEpoch } from './epoch.ts';
import type { ScheduledRun } from './classify.ts';
import { type LedgerFacts, settleSlots } from './settle.ts';

const minute = 60_000;
const at = (clock: string): number => Date.parse(`2026-03-02T${clock}Z`);

const hourly: SpecEpoch = {
  fromAt: at('00:00:00'),
  toAt: undefined,
  schedule: '0 * * * *',
  timeZone: undefined,
  suspended: false,
  policy: 'Allow',
  deadlineS: undefined,
  generation: 1,
  certain: true,
};
const facts: LedgerFacts = {
  createdAt: at('00:00:00'),
  deletingAt: undefined,
  epochs: [hourly],
  evaluatedThroughAt: at('01:30:00'),
  anchorAt: at('01:00:00'),
  runs: [],
  gaps: [],
  traces: undefined,
  zoneMismatch: false,
  graceMs: 2 * minute,
  skewP99Ms: 0,
  defaultZone: 'UTC',
  freshThroughAt: Infinity,
};
const run = (slot: string, created: string, ended?: string): ScheduledRun => ({
  jobUid: `uid-${slot}`,
  jobName: `job-${slot}`,
  slotAt: at(slot),
  createdAt: at(created),
  endedAt: ended === undefined ? undefined : at(ended),
});

/** The CronJob after a gap: a later run was started, and nothing can have been cleared away. */
const keepsAll = {
  lastScheduleAt: at('02:30:00'),
  lastSuccessAt: undefined,
  successUnexplained: false,
  keepsAll: true,
};

interface Case {
  says: string;
  facts?: Partial<LedgerFacts>;
  epoch?: Partial<SpecEpoch>;
  now: string;
  /** Slot and outcome of each that is settled. */
  slots?: Record<string, string>;
  waiting?: string;
  due?: string;
}

const cases: Case[] = [
  { says: 'a run that is a minute overdue is not judged yet', now: '02:01:00', due: '02:02:00' },
  {
    says: 'a run that did not come within the grace is missed',
    now: '02:02:00',
    slots: { '02:00:00': 'missed' },
    due: '03:02:00',
  },
  {
    says: 'a run that came answers its slot',
    facts: { runs: [run('02:00:00', '02:00:01')] },
    now: '02:30:00',
    due: '03:02:00',
  },
  {
    says: 'a run for a later slot settles the earlier one at once',
    facts: { runs: [run('03:00:00', '03:00:01')] },
    now: '03:00:05',
    slots: { '02:00:00': 'missed' },
    due: '04:02:00',
  },
  {
    says: 'a starting deadline lets the controller start it later',
    epoch: { deadlineS: 300 },
    now: '02:04:00',
    due: '02:05:00',
  },
  {
    says: 'no more than ten minutes are waited for a long deadline',
    epoch: { deadlineS: 3600 },
    now: '02:10:00',
    slots: { '02:00:00': 'missed' },
  },
  {
    says: 'a slot of a suspended CronJob is no miss',
    epoch: { suspended: true },
    now: '02:02:00',
    slots: { '02:00:00': 'suspended' },
  },
  {
    says: 'nothing can be told of an uncertain time',
    epoch: { certain: false },
    now: '02:02:00',
    slots: { '02:00:00': 'indeterminate' },
  },
  {
    says: 'nothing can be told when the zone does not fit',
    facts: { zoneMismatch: true },
    now: '02:02:00',
    slots: { '02:00:00': 'indeterminate' },
  },
  { says: 'a CronJob that is being deleted misses nothing', facts: { deletingAt: at('01:45:00') }, now: '02:02:00' },
  {
    says: 'not watched: not seen',
    facts: { gaps: [{ fromAt: at('01:50:00'), toAt: at('02:30:00') }] },
    now: '02:35:00',
    slots: { '02:00:00': 'unobserved' },
  },
  {
    says: 'not watched, but nothing can have been collected: missed',
    facts: { gaps: [{ fromAt: at('01:50:00'), toAt: at('02:30:00') }], traces: keepsAll },
    now: '02:35:00',
    slots: { '02:00:00': 'missed' },
  },
  {
    says: 'absence beyond the last sight is not judged',
    facts: { freshThroughAt: at('02:01:30') },
    now: '02:30:00',
    due: '02:02:00',
  },
  { says: 'an unintelligible schedule has no slots', epoch: { schedule: 'every day' }, now: '05:00:00' },
  {
    says: 'a slow cluster gets more time: three times its usual delay',
    facts: { skewP99Ms: 90_000 },
    now: '02:04:00',
    due: '02:04:30',
  },
  // Forbid: the newest slot starts late when the run before ends, all earlier ones never do.
  {
    says: 'Forbid, behind a run that goes on: waits for the next slot at most',
    facts: { runs: [run('01:00:00', '01:00:01')] },
    epoch: { policy: 'Forbid' },
    now: '02:30:00',
    waiting: '02:00:00',
    due: '03:00:00',
  },
  {
    says: 'Forbid: a following slot came, the earlier one is skipped',
    facts: { runs: [run('01:00:00', '01:00:01')] },
    epoch: { policy: 'Forbid' },
    now: '03:30:00',
    slots: { '02:00:00': 'skippedForbid' },
    waiting: '03:00:00',
    due: '04:00:00',
  },
  {
    says: 'Forbid: the run ended and the newest skipped slot started late',
    facts: { runs: [run('01:00:00', '01:00:01', '03:20:00'), run('03:00:00', '03:20:01')] },
    epoch: { policy: 'Forbid' },
    now: '03:21:00',
    slots: { '02:00:00': 'skippedForbid' },
    due: '04:02:00',
  },
  {
    says: 'Forbid with a deadline that passes during the run',
    facts: { runs: [run('01:00:00', '01:00:01')] },
    epoch: { policy: 'Forbid', deadlineS: 100 },
    now: '02:10:00',
    slots: { '02:00:00': 'skippedDeadline' },
    due: '03:02:00',
  },
  {
    says: 'Forbid: the run ended and nothing started',
    facts: { runs: [run('01:00:00', '01:00:01', '02:20:00')] },
    epoch: { policy: 'Forbid' },
    now: '02:22:30',
    slots: { '02:00:00': 'missed' },
  },
  {
    says: 'Forbid: the run has just ended, its successor gets its time',
    facts: { runs: [run('01:00:00', '01:00:01', '02:20:00')] },
    epoch: { policy: 'Forbid' },
    now: '02:21:00',
    waiting: '02:00:00',
    due: '02:22:00',
  },
  {
    says: 'Allow never waits for a run that goes on',
    facts: { runs: [run('01:00:00', '01:00:01')] },
    now: '02:02:00',
    slots: { '02:00:00': 'missed' },
  },
];

for (const { says, facts: more, epoch, now, slots, waiting, due } of cases) {
  test(`ledger: ${says}`, () => {
    const settled = settleSlots({ ...facts, epochs: [{ ...hourly, ...epoch }], ...more }, at(now));
    const told = Object.fromEntries(
      settled.slots.map((slot) => [new Date(slot.at).toISOString().slice(11, 19), slot.outcome]),
    );
    assert.deepEqual(told, slots ?? {});
    assert.equal(settled.waitingSlotAt, waiting === undefined ? undefined : at(waiting));
    if (due !== undefined) assert.equal(settled.dueAt, at(due));
  });
}

test('the watermark stays before a slot that is not judged, so that the next pass finds it again', () => {
  const before = settleSlots(facts, at('02:01:00'));
  assert.ok(before.evaluatedThroughAt < at('02:00:00'));
  const after = settleSlots({ ...facts, evaluatedThroughAt: before.evaluatedThroughAt }, at('02:02:00'));
  assert.deepEqual(
    after.slots.map((slot) => slot.outcome),
    ['missed'],
  );
});

test('each slot is judged by the epoch it fell into', () => {
  const epochs: SpecEpoch[] = [
    { ...hourly, toAt: at('02:30:00') },
    { ...hourly, fromAt: at('02:30:00'), suspended: true },
  ];
  const settled = settleSlots({ ...facts, epochs }, at('04:30:00'));
  assert.deepEqual(
    settled.slots.map((slot) => slot.outcome),
    ['missed', 'suspended', 'suspended'],
  );
});

test('intervals count from the last start and not from the clock', () => {
  const epochs = [{ ...hourly, schedule: '@every 90m' }];
  const settled = settleSlots({ ...facts, epochs, anchorAt: at('01:10:00') }, at('04:30:00'));
  assert.deepEqual(
    settled.slots.map((slot) => new Date(slot.at).toISOString().slice(11, 16)),
    ['02:40', '04:10'],
  );
});
