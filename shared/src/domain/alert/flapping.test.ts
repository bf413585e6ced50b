import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFlip, flappingUntil, isFlapping, type Flips } from './flapping.ts';

const minute = 60_000;
const after = (minutes: number[]): Flips => minutes.reduce<Flips>((flips, at) => addFlip(flips, at * minute), []);

test('three changes within an hour are not flapping, four are', () => {
  assert.equal(isFlapping(after([0, 10, 20]), 20 * minute), false);
  assert.equal(isFlapping(after([0, 10, 20, 30]), 30 * minute), true);
});

test('four changes over more than an hour are not flapping', () => {
  assert.equal(isFlapping(after([0, 25, 50, 75]), 75 * minute), false);
});

test('an hour without a change ends it', () => {
  assert.equal(flappingUntil(after([0, 10, 20, 30])), 90 * minute);
  assert.equal(isFlapping(after([0, 10, 20, 30]), 61 * minute), false);
});
