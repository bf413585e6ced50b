import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureReason } from './fault.ts';

test('what its deadline ended failed for that, whatever its container says of being stopped', () => {
  assert.equal(failureReason({ reason: 'Error', jobReason: 'DeadlineExceeded' }), 'DeadlineExceeded');
  assert.equal(failureReason({ reason: 'Unschedulable', jobReason: 'DeadlineExceeded' }), 'DeadlineExceeded');
});

test('a container that could not start, or that its memory ended, failed for that, also where a deadline came', () => {
  assert.equal(failureReason({ reason: 'ImagePullBackOff', jobReason: 'DeadlineExceeded' }), 'ImagePullBackOff');
  assert.equal(failureReason({ reason: 'OOMKilled', jobReason: 'DeadlineExceeded' }), 'OOMKilled');
});

test('a run without a deadline failed for what its container says, else for what the Job says', () => {
  assert.equal(failureReason({ reason: 'OOMKilled', jobReason: 'BackoffLimitExceeded' }), 'OOMKilled');
  assert.equal(failureReason({ reason: undefined, jobReason: 'BackoffLimitExceeded' }), 'BackoffLimitExceeded');
});
