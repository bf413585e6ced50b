import assert from 'node:assert/strict';
import test from 'node:test';
import { successRate } from './run-counts.ts';

test('the rate is the share of successes among the runs', () => {
  assert.equal(successRate({ success: 6, failed: 1 })?.toFixed(4), '85.7143');
  assert.equal(successRate({ success: 0, failed: 3 }), 0);
  assert.equal(successRate({ success: 3, failed: 0 }), 100);
});

test('without a run there is no rate', () => {
  assert.equal(successRate({ success: 0, failed: 0 }), undefined);
});
