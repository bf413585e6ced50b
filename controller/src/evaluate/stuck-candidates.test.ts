import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectionRules, HopelessWait, JobFacts } from '@cronjob-monitor/shared/domain';
import { aJob } from '@cronjob-monitor/shared/testing';
import { stuckCandidates } from './watchers.ts';

const minute = 60_000;
const stuck = {
  enabled: true,
  notStartedAfterMs: 10 * minute,
  hopelessAfterMs: 2 * minute,
  terminatingAfterMs: 5 * minute,
  overrunningAfterMs: undefined,
};
const rules = {
  stuck: { notStarted: stuck, overrunning: stuck, terminating: stuck },
  durations: undefined,
} as unknown as DetectionRules; // only what is looked at
const running = (more: Partial<JobFacts> = {}): JobFacts => ({
  ...aJob({ createdAt: 0, outcome: undefined, endedAt: undefined }),
  cronJobUid: 'owner',
  ...more,
});
const at = (minutes: number, job: JobFacts, of: readonly DetectionRules[] = [rules], wait?: HopelessWait): boolean =>
  stuckCandidates([job], { rulesOf: () => of, hopelessWaitOf: () => wait }, minutes * minute).has('owner');

test('a Job is looked at from the first instant at which one of its limits may have passed', () => {
  assert.deepEqual([at(9, running()), at(10, running())], [false, true]);
});

test('a limit of its monitor for the duration counts as well', () => {
  const slow = { ...rules, durations: { enabled: true, maxDurationMs: 2 * minute, minDurationMs: undefined } };
  assert.deepEqual([at(1, running(), [slow]), at(2, running(), [slow])], [false, true]);
});

test('a Job that is ending is looked at by the limit for that', () => {
  assert.deepEqual([at(4, running({ decidedAt: 0 })), at(5, running({ decidedAt: 0 }))], [false, true]);
});

test('what has ended, is suspended or is watched by no monitor is left alone', () => {
  assert.equal(at(99, running({ outcome: 'success' })), false);
  assert.equal(at(99, running({ suspended: true })), false);
  assert.equal(at(99, running(), []), false);
});

test('a Job that waits in vain is looked at by the shorter limit', () => {
  const wait = { reason: 'InvalidImageName', message: undefined, sinceAt: 0, fromAt: 0 };
  assert.deepEqual([at(1, running(), [rules], wait), at(2, running(), [rules], wait)], [false, true]);
});

test('a Job that has ended since it was asked last is looked at when it took long enough to be stuck', () => {
  const ended = (minutes: number, askedAt: number): boolean => {
    const job = running({ outcome: 'success', endedAt: minutes * minute });
    const sources = { rulesOf: () => [rules], hopelessWaitOf: () => undefined };
    return stuckCandidates([job], sources, 30 * minute, askedAt * minute).has('owner');
  };
  assert.deepEqual([ended(1, 0), ended(2, 0), ended(20, 19), ended(20, 20)], [false, true, true, false]);
});
