import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everywhere, reachOf } from './authentication.ts';

test('who may look everywhere is asked for what they asked for', () => {
  assert.deepEqual(everywhere.within([]), []);
  assert.deepEqual(everywhere.within(['a']), ['a']);
});

test('who may look into some is shown these, or those of them that they ask for', () => {
  const reach = reachOf(['a', 'b']);
  assert.deepEqual(reach.within([]), ['a', 'b']);
  assert.deepEqual(reach.within(['b', 'c']), ['b']);
  assert.deepEqual([reach.includes('a'), reach.includes('c'), reach.isWhole], [true, false, false]);
});

test('where nothing is left the filter is not empty, for an empty one lets everything through', () => {
  assert.deepEqual(reachOf(['a']).within(['c']), ['']);
  assert.deepEqual(reachOf([]).within([]), ['']);
});
