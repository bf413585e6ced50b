import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printIndexes, readIndexes } from './index-ranges.ts';

test('indexes are written as a status writes them: two in a row one by one, more as a range', () => {
  assert.equal(printIndexes([4, 3, 2, 0]), '0,2-4');
  assert.equal(printIndexes([1, 2]), '1,2');
  assert.equal(printIndexes([]), '');
});

test('reading them gives the same set, without those beyond the completions', () => {
  assert.deepEqual([...readIndexes('0,2-4')], [0, 2, 3, 4]);
  assert.deepEqual([...readIndexes('0,2-4', 3)], [0, 2]);
  assert.deepEqual([...readIndexes('')], []);
});
