import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { Batches } from './batches.ts';

test('what arrives while a batch is worked on is in the next, and no batch is larger than allowed', async () => {
  const seen: (readonly number[])[] = [];
  const batches = new Batches<number>(2, async (batch) => {
    seen.push(batch);
    await turn();
  });
  await Promise.all([1, 2, 3, 4, 5].map((item) => batches.add(item)));
  await batches.add(6);
  assert.deepEqual(seen, [[1], [2, 3], [4, 5], [6]]);
});

test('a batch that fails fails those in it, and the next is worked on', async () => {
  const batches = new Batches<string>(8, async ([first]) => {
    await turn();
    if (first === 'bad') throw new Error('refused');
  });
  const ended = await Promise.allSettled(['bad', 'good', 'better'].map((item) => batches.add(item)));
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
});
