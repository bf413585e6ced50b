import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendSlots } from './send-slots.ts';

async function begunOf(asked: readonly string[], freed: readonly string[] = [], written = 0): Promise<number[]> {
  const slots = new SendSlots((uid) => (uid === 'chat' ? { inFlight: 1, gapMs: 1_000 } : { inFlight: 2, gapMs: 0 }));
  const begun: number[] = [];
  for (const [index, uid] of asked.entries()) void slots.take(uid).then(() => begun.push(index));
  await Promise.resolve();
  for (const uid of freed) slots.answered(uid);
  slots.written(written);
  await Promise.resolve();
  await Promise.resolve();
  return begun;
}

test('two messages to a channel are on their way at once, to a chat one', async () => {
  assert.deepEqual(await begunOf(['hook', 'hook', 'hook', 'chat', 'chat']), [0, 1, 3]);
});

test('what ends makes room for the next of its channel, in the order of asking', async () => {
  assert.deepEqual(await begunOf(['hook', 'hook', 'hook', 'hook'], ['hook']), [0, 1, 2]);
});

test('eight are on their way in all', async () => {
  const channels = ['a', 'b', 'c', 'd', 'e'].flatMap((uid) => [uid, uid]);
  assert.deepEqual(await begunOf(channels), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a channel that is slow keeps back only its own', async () => {
  assert.deepEqual(await begunOf(['slow', 'slow', 'slow', 'slow', 'other']), [0, 1, 4]);
});

test('what is answered counts among the eight until the answer is written', async () => {
  const channels = ['a', 'b', 'c', 'd', 'e'].flatMap((uid) => [uid, uid]);
  assert.deepEqual(await begunOf(channels, ['a', 'a', 'b']), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await begunOf(channels, ['a', 'a', 'b'], 1), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});
