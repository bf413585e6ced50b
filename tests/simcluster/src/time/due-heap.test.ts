import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../random.ts';
import { DueHeap } from './due-heap.ts';

test('entries leave by instant, those of one instant in the order in which they came', (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const heap = new DueHeap<number>();
  const entries = Array.from({ length: 500 }, (_, value) => ({ at: Math.floor(random.fraction() * 50), value }));
  for (const { at, value } of entries) heap.push(at, value);
  const expected = entries.toSorted((a, b) => a.at - b.at || a.value - b.value).map(({ value }) => value);
  const left = Array.from({ length: entries.length }, () => heap.pop());
  assert.deepEqual(left, expected);
  assert.deepEqual([heap.pop(), heap.nextAt, heap.size], [undefined, undefined, 0]);
});
