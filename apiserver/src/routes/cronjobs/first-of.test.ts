import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstOf } from './first-of.ts';

test('the first of a list are those that begin it when it is sorted, equal ones as they were', () => {
  // A random order that is the same each time.
  let seed = 42;
  const next = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31);
  const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key;
  const items = Array.from({ length: 1_200 }, (_, place) => ({ key: next() % 97, place }));
  for (const list of [items, items.toSorted(byKey), items.toSorted(byKey).toReversed(), []]) {
    for (const count of [0, 1, 2, 50, 500, 501, 1_199, 1_200, 5_000]) {
      assert.deepEqual(firstOf(list, count, byKey), list.toSorted(byKey).slice(0, count), `${count}`);
    }
  }
});
