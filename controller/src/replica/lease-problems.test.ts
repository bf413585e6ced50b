import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseProblems, type LeaseFacts } from './two-witnesses.ts';

const facts: LeaseFacts = {
  key: { namespace: 'monitoring', name: 'cronjob-monitor-controller' },
  failure: { code: 'forbidden', sinceMs: 1_000 },
  nowMs: 1_000,
  renewDeadlineMs: 10_000,
  isServerThere: true,
};

test('a missing right is told at once, with the right and the namespace', () => {
  const [problem] = leaseProblems(facts);
  assert.equal(problem?.blocks, true);
  assert.match(
    problem?.sentence ?? '',
    /^the Lease monitoring\/cronjob-monitor-controller cannot be read or written \(forbidden\): give .* in namespace monitoring/,
  );
});

test('what may pass is told after the renew deadline', () => {
  const failure = { code: 'unavailable', sinceMs: 1_000 } as const;
  assert.deepEqual(leaseProblems({ ...facts, failure, nowMs: 10_999 }), []);
  assert.match(leaseProblems({ ...facts, failure, nowMs: 11_000 })[0]?.sentence ?? '', /\(unavailable\): look at/);
});

test('nothing is said of the Lease while it works, or while the whole API server is away', () => {
  assert.deepEqual(leaseProblems({ ...facts, failure: undefined }), []);
  assert.deepEqual(leaseProblems({ ...facts, isServerThere: false }), []);
});
