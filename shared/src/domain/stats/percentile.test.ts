import assert from 'node:assert/strict';
import test from 'node:test';
import { nearestRank, rankOf } from './percentile.ts';

test('a percentile is the value at position ceil(p x n)', () => {
  const values = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
  const rows: [number, number][] = [
    [0.01, 10],
    [0.1, 10],
    [0.11, 20],
    [0.5, 50],
    [0.51, 60],
    [0.95, 100],
    [0.9, 90],
    [1, 100],
  ];
  for (const [p, expected] of rows) assert.equal(nearestRank(values, p), expected, `p ${p}`);
});

test('one value is every percentile, no value is none', () => {
  assert.equal(nearestRank([7], 0.01), 7);
  assert.equal(nearestRank([7], 0.99), 7);
  assert.equal(nearestRank([], 0.5), undefined);
  assert.equal(rankOf(0, 0.5), 0);
});

test('a product that is a whole number but for rounding costs no rank', () => {
  assert.equal(rankOf(100, 0.07), 7);
  assert.equal(rankOf(100, 0.29), 29);
  assert.equal(rankOf(1000, 0.999), 999);
});
