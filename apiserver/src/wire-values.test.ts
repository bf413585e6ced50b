import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPercent } from './wire-values.ts';

test('a rate is cut, as in the sentence beside it, so that one that misses its target does not equal it', () => {
  for (const [part, whole, percent] of [
    [91, 367, 24.79],
    [1_899, 1_999, 94.99],
    [19, 20, 95],
    [29, 10_000, 0.29],
    [19_999, 20_000, 99.99],
    [1, 20_001, 0.01],
    [7, 7, 100],
    [0, 3, 0],
    [0, 0, null],
  ] as const)
    assert.equal(toPercent(part, whole), percent, `${part} of ${whole}`);
});
