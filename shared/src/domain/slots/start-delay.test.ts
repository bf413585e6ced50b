import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpecEpoch } from './epoch.ts';
import { epochAt, startDelayOf } from './tolerance.ts';

const minute = 60_000;
const epoch: SpecEpoch = {
  fromAt: 0,
  toAt: undefined,
  schedule: '* * * * *',
  timeZone: undefined,
  suspended: false,
  policy: 'Allow',
  deadlineS: undefined,
  generation: 1,
  certain: true,
};
const run = (slotAt: number, delayMs: number, endedAt?: number) => ({
  jobUid: `job-${slotAt}`,
  jobName: `job-${slotAt}`,
  slotAt,
  createdAt: slotAt + delayMs,
  endedAt,
});

for (const { says, start, changes, others, expected } of [
  { says: 'an ordinary start', start: run(minute, 300), changes: {}, others: [], expected: 300 },
  { says: 'clocks that differ', start: run(minute, -900), changes: {}, others: [], expected: 0 },
  { says: 'a catch-up', start: run(minute, 16 * minute), changes: {}, others: [], expected: undefined },
  {
    says: 'a slot that was suspended',
    start: run(minute, 300),
    changes: { suspended: true },
    others: [],
    expected: undefined,
  },
  {
    says: 'a slot older than its schedule',
    start: run(minute, 300),
    changes: { fromAt: minute },
    others: [],
    expected: undefined,
  },
  {
    says: 'one that waited under Forbid',
    start: run(2 * minute, minute),
    changes: { policy: 'Forbid' as const },
    others: [run(minute, 300, 3 * minute)],
    expected: undefined,
  },
  {
    says: 'one that Allow let start',
    start: run(2 * minute, 300),
    changes: {},
    others: [run(minute, 300, 3 * minute)],
    expected: 300,
  },
]) {
  test(`start delay: ${says}`, () =>
    assert.equal(startDelayOf(start, { epochs: [{ ...epoch, ...changes }], runs: [...others, start] }), expected));
}

test('an instant lies in the epoch that ends with it, not in the one that begins with it', () => {
  const epochs = [
    { ...epoch, toAt: 10 },
    { ...epoch, fromAt: 10 },
  ];
  assert.equal(epochAt(epochs, 10), epochs[0]);
  assert.equal(epochAt(epochs, 11), epochs[1]);
  assert.equal(epochAt(epochs, 0), undefined);
});
