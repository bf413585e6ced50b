import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disappeared, toAbsence, type ExpectedFacts } from './disappeared.ts';

const minute = 60_000;
const rule = { graceMs: 10 * minute };
const writer = { manager: 'helm', operation: 'Update', at: 5, managedBy: 'release backups' };
const last = { seenAt: 90 * minute, deletedAt: 100 * minute, deletedFromAt: undefined, writer };
const gone: ExpectedFacts = {
  isSelected: false,
  isNamespaceGone: false,
  expectedSinceAt: 0,
  deselectedAt: undefined,
  last,
  isTold: false,
};

// at, since: minutes; since undefined = quiet
const cases: {
  says: string;
  facts?: Partial<ExpectedFacts>;
  graceMs?: number;
  at: number;
  since?: number;
  reason: string;
}[] = [
  { says: 'one that is selected is there', facts: { isSelected: true }, at: 900, reason: 'present' },
  { says: 'within the grace nothing is told', at: 109, reason: 'withinGrace' },
  { says: 'then it is, from the deletion on', at: 110, since: 100, reason: 'deleted' },
  { says: 'a grace of zero tells at once', graceMs: 0, at: 100, since: 100, reason: 'deleted' },
  {
    says: 'a namespace takes its CronJobs with it',
    facts: { isNamespaceGone: true },
    at: 900,
    reason: 'namespaceDeleted',
  },
  {
    says: 'what went before it was expected counts from then',
    facts: { expectedSinceAt: 200 * minute },
    at: 209,
    reason: 'withinGrace',
  },
  { says: 'and is told', facts: { expectedSinceAt: 200 * minute }, at: 210, since: 200, reason: 'deleted' },
  {
    says: 'one that is there and not selected',
    facts: { deselectedAt: 120 * minute },
    at: 130,
    since: 120,
    reason: 'deselected',
  },
  { says: 'one that was never there', facts: { last: undefined }, at: 10, since: 0, reason: 'neverExisted' },
  {
    says: 'what is told has no second grace',
    facts: { isTold: true, expectedSinceAt: 200 * minute },
    at: 201,
    since: 200,
    reason: 'deleted',
  },
];

for (const { says, facts, graceMs, at, since, reason } of cases) {
  test(`disappeared: ${says}`, () => {
    const verdict = disappeared(
      { ...rule, ...(graceMs !== undefined && { graceMs }) },
      { ...gone, ...facts },
      at * minute,
    );
    const found = verdict.kind === 'holds' ? verdict.since / minute : undefined;
    assert.deepEqual([found, verdict.kind === 'undecided' ? '' : verdict.reason], [since, reason]);
  });
}

test('within its grace it says when to ask again', () => {
  const verdict = disappeared(rule, gone, 101 * minute);
  assert.equal(verdict.kind === 'quiet' && verdict.dueAt, 110 * minute);
});

test('disappeared tells who wrote it last, and between which instants it went', () => {
  const verdict = disappeared(rule, { ...gone, last: { ...last, deletedFromAt: 95 * minute } }, 200 * minute);
  assert.ok(verdict.kind === 'holds');
  assert.deepEqual(toAbsence(verdict.detail), {
    cause: 'deleted',
    lastSeenAt: 90 * minute,
    deletedFromAt: 95 * minute,
    deletedUntilAt: 100 * minute,
    lastWriter: writer,
  });
  assert.equal(toAbsence({}), undefined);
});
