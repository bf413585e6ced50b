import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIndexes, lowestIndex, parseIndexRanges, unmendedIndexes } from './indexes.ts';

/** [text, lowest] */
const rows: [string | undefined, number | undefined][] = [
  ['0', 0],
  ['1,4-6', 1],
  ['7-9,3', 3],
  ['0-99999', 0],
  ['', undefined],
  [undefined, undefined],
  ['x,-1,5-2,2', 2],
];

for (const [text, lowest] of rows) {
  test(`indexes: ${text === undefined ? 'none given' : `"${text}"`}`, () => {
    assert.equal(lowestIndex(text), lowest);
  });
}

test('indexes are written as Kubernetes writes them', () => {
  assert.equal(formatIndexes([1, 4, 5, 6]), '1,4-6');
  assert.equal(formatIndexes([]), '');
  assert.deepEqual(parseIndexRanges(formatIndexes([0, 1, 3])), [
    { from: 0, to: 1 },
    { from: 3, to: 3 },
  ]);
});

test('an index with a success is not among the failed ones', () => {
  const pods = [
    { phase: 'Failed', index: 10 },
    { phase: 'Failed', index: 2 },
    { phase: 'Failed', index: 2 },
    { phase: 'Failed', index: 0 },
    { phase: 'Succeeded', index: 0 },
    { phase: 'Failed', index: undefined },
  ];
  assert.deepEqual(unmendedIndexes(pods), [2, 10]);
});
