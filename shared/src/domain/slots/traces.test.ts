import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inferredEndOf, traceOf, type ClusterTraces } from './traces.ts';

const traces: ClusterTraces = { lastScheduleAt: 500, lastSuccessAt: 560, successUnexplained: true, keepsAll: false };

for (const { says, slotAt, more, expected } of [
  { says: 'after the newest start nothing was started', slotAt: 600, more: {}, expected: 'neverStarted' },
  { says: 'the newest start was one', slotAt: 500, more: {}, expected: 'started' },
  { says: 'an earlier one may have been', slotAt: 400, more: {}, expected: 'unknown' },
  { says: 'unless nothing is ever cleared away', slotAt: 400, more: { keepsAll: true }, expected: 'neverStarted' },
  {
    says: 'before any start there was none',
    slotAt: 400,
    more: { lastScheduleAt: undefined },
    expected: 'neverStarted',
  },
] as const) {
  test(`traces: ${says}`, () => assert.equal(traceOf(slotAt, { ...traces, ...more }), expected));
}

test('of a CronJob that is gone nothing is known', () => assert.equal(traceOf(400, undefined), 'unknown'));

for (const { says, slotAt, more, expected } of [
  { says: 'a later success that no other run explains', slotAt: 500, more: {}, expected: 560 },
  {
    says: 'a success that another run explains',
    slotAt: 500,
    more: { successUnexplained: false },
    expected: undefined,
  },
  { says: 'a success from before the slot', slotAt: 600, more: {}, expected: undefined },
  { says: 'no success at all', slotAt: 500, more: { lastSuccessAt: undefined }, expected: undefined },
] as const) {
  test(`inferred end: ${says}`, () => assert.equal(inferredEndOf(slotAt, { ...traces, ...more }), expected));
}
