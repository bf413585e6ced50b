import assert from 'node:assert/strict';
import { test } from 'node:test';

import { array, assert as holds, integer, option, property, tuple } from 'fast-check';

import { DelayedKeys } from './work-queue.ts';

test('of two instants for one key the earlier one counts', () => {
  const keys = new DelayedKeys<string>();
  keys.set('a', 50);
  keys.set('a', 20);
  keys.set('a', 90);
  assert.equal(keys.size, 1);
  assert.equal(keys.nextAt(), 20);
  assert.deepEqual(keys.takeDue(20), ['a']);
  assert.equal(keys.nextAt(), undefined);
  assert.deepEqual(keys.takeDue(1_000), [], 'its outdated instants are gone with it');
});

test('a deleted key does not come', () => {
  const keys = new DelayedKeys<string>();
  keys.set('a', 10);
  keys.set('b', 20);
  keys.delete('a');
  assert.deepEqual(keys.takeDue(15), []);
  assert.equal(keys.nextAt(), 20);
});

test('any mixture of setting and deleting comes out in order, as a plain sort would give it', () => {
  const step = tuple(integer({ min: 0, max: 20 }), option(integer({ min: 0, max: 1_000 })));
  holds(
    property(array(step, { maxLength: 200 }), integer({ min: 0, max: 1_000 }), (steps, now) => {
      const keys = new DelayedKeys<number>();
      const model = new Map<number, number>();
      for (const [key, at] of steps) {
        if (at === null) {
          keys.delete(key);
          model.delete(key);
        } else {
          keys.set(key, at);
          model.set(key, Math.min(at, model.get(key) ?? Infinity));
        }
      }
      const due = keys.takeDue(now).map((key) => model.get(key));
      const expected = [...model.values()].filter((at) => at <= now).sort((a, b) => a - b);
      assert.deepEqual(due, expected);
      assert.equal(keys.size, model.size - expected.length);
      const later = [...model.values()].filter((at) => at > now);
      assert.equal(keys.nextAt(), later.length === 0 ? undefined : Math.min(...later));
    }),
  );
});
