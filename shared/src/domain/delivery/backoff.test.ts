import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAt } from './transitions.ts';

test('the wait grows twofold with each attempt, up to ten minutes', () => {
  const longest = [1, 2, 3, 7, 20].map((attempts) => retryAt(0, attempts, undefined, 1));
  assert.deepEqual(longest, [10_000, 20_000, 40_000, 600_000, 600_000]);
});

test('the shortest wait is a second', () => {
  assert.equal(retryAt(0, 5, undefined, 0), 1_000);
});

test('waits as long as the receiver asks, even if the draw is shorter', () => {
  assert.equal(retryAt(0, 1, 30_000, 0), 30_000);
});

test('believes no receiver that asks for more than an hour', () => {
  assert.equal(retryAt(0, 1, 86_400_000, 0), 3_600_000);
});
