import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClock } from '../time/sim-clock.ts';
import { KeyQueue, type Turn } from './key-queue.ts';

function aQueue(turn?: (key: string) => Turn | void): {
  queue: KeyQueue;
  turns: string[];
  clock: ReturnType<typeof createClock>;
} {
  const clock = createClock(0);
  const turns: string[] = [];
  const queue = new KeyQueue(clock, (key) => {
    turns.push(`${key}@${clock.now()}`);
    return turn?.(key);
  });
  return { queue, turns, clock };
}

describe('the queue of a controller', () => {
  test('gives a key that is added several times one turn', () => {
    const { queue, turns, clock } = aQueue();
    queue.add('a');
    queue.add('a');
    queue.add('b');
    clock.advanceBy(100);
    assert.deepEqual(turns, ['a@3', 'b@3']);
  });

  test('keeps the earliest of the times that a key waits for', () => {
    const { queue, turns, clock } = aQueue();
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 2_000);
    queue.addAfter('a', 500);
    clock.advanceBy(10_000);
    assert.deepEqual(turns, ['a@503']);
  });

  test('gives one more turn to a key that is added during its turn', () => {
    const { queue, turns, clock } = aQueue(function* (): Turn {
      yield 50;
    });
    queue.add('a');
    clock.advanceBy(10);
    queue.add('a');
    queue.add('a');
    clock.advanceBy(1_000);
    assert.deepEqual(turns, ['a@3', 'a@56']);
  });

  test('waits longer after every failure, and from the start after a success', () => {
    const { queue, turns, clock } = aQueue();
    for (let round = 0; round < 3; round++) {
      queue.retry('a');
      clock.advanceBy(1_000);
    }
    queue.succeeded('a');
    queue.retry('a');
    clock.advanceBy(1_000);
    assert.deepEqual(turns, ['a@8', 'a@1013', 'a@2023', 'a@3008']);
  });

  test('drops what waits for a key that is gone', () => {
    const { queue, turns, clock } = aQueue();
    queue.addAfter('a', 1_000);
    queue.forget('a');
    clock.advanceBy(10_000);
    assert.deepEqual(turns, []);
  });
});
