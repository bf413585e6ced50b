import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExpensiveReads } from './costly.ts';

const tooBusy = { code: 'RATE_LIMITED', status: 429, headers: { 'Retry-After': '1' } };

test('only so many run at once, and one that ends makes room', () => {
  const reads = createExpensiveReads({ mostAtOnce: 3, mostOfOne: 3 });
  const leave = reads.enter('a', 2);
  reads.enter('b', 1);
  assert.throws(() => reads.enter('c', 1), tooBusy);
  leave();
  leave(); // twice counts once
  reads.enter('c', 2);
  assert.throws(() => reads.enter('d', 1), tooBusy);
});

test('one caller leaves room for the others', () => {
  const reads = createExpensiveReads({ mostAtOnce: 3, mostOfOne: 2 });
  reads.enter('a', 1);
  const leave = reads.enter('a', 1);
  assert.throws(() => reads.enter('a', 1), tooBusy);
  reads.enter('b', 1)();
  leave();
  reads.enter('a', 1);
});
