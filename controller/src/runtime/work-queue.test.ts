import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeClock, settle } from '@cronjob-monitor/shared/testing';

import { RetryDelays, WorkQueue } from './work-queue.ts';

function setUp() {
  const clock = new FakeClock();
  const counts = { added: 0, waited: [] as number[], worked: [] as number[] };
  const queue = new WorkQueue<string>({
    clock,
    metrics: {
      added: () => (counts.added += 1),
      waited: (seconds) => counts.waited.push(seconds),
      worked: (seconds) => counts.worked.push(seconds),
    },
  });
  queue.open();
  const { signal } = new AbortController();
  return { clock, counts, queue, signal, take: (max = 100) => queue.take(max, signal) };
}

test('a key waits once, however often it is added, and keys come in the order of their adding', async () => {
  const { queue, take, counts } = setUp();
  for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
  assert.equal(queue.depth, 3);
  assert.equal(counts.added, 3, 'a collapsed key does not count');
  assert.deepEqual(await take(2), ['b', 'a']);
  assert.deepEqual(await take(2), ['c']);
});

test('a key is worked on by one worker at a time, and runs once more when it was added meanwhile', async () => {
  const { queue, take, counts } = setUp();
  queue.add('a');
  assert.deepEqual(await take(), ['a']);
  queue.add('a');
  queue.add('a');
  assert.equal(queue.depth, 0, 'it waits for its worker, not for another');
  queue.add('b');
  assert.deepEqual(await take(), ['b']);
  queue.done('a');
  assert.deepEqual(await take(), ['a']);
  queue.done('a');
  assert.equal(queue.depth, 0);
  assert.equal(counts.added, 3);
});

test('it tells whether keys from before an instant are still to be done, whatever came since', async () => {
  const { clock, queue, take } = setUp();
  queue.add('a');
  queue.add('b');
  const now = clock.monotonicMs();
  assert.equal(queue.isBusyWith(now - 1), false);
  await clock.advance(10);
  queue.add('c');
  assert.deepEqual(await take(1), ['a']);
  queue.add('a');
  queue.done('a');
  assert.equal(queue.isBusyWith(now), true, 'one waits');
  assert.deepEqual(await take(1), ['b']);
  assert.equal(queue.isBusyWith(now), true, 'it is in work');
  queue.done('b');
  assert.equal(queue.isBusyWith(now), false, 'the others came later');
  assert.equal(queue.isBusyWith(clock.monotonicMs()), true);
});

test('a worker waits for work, and each key wakes one', async () => {
  const { queue, take } = setUp();
  const first = take(1);
  const second = take(1);
  await settle();
  queue.add('a');
  assert.deepEqual(await first, ['a']);
  queue.add('b');
  assert.deepEqual(await second, ['b']);
});

test('keys added together reach all workers that wait', async () => {
  const { queue, take } = setUp();
  const workers = [take(1), take(1), take(1)];
  await settle();
  for (const key of ['a', 'b', 'c']) queue.add(key);
  assert.deepEqual((await Promise.all(workers)).flat().sort(), ['a', 'b', 'c']);
});

test('a worker that went away takes no wake-up with it', async () => {
  const { queue, take } = setUp();
  const gone = new AbortController();
  const leaving = queue.take(1, gone.signal);
  const staying = take(1);
  await settle();
  gone.abort();
  assert.deepEqual(await leaving, []);
  queue.add('a');
  assert.deepEqual(await staying, ['a']);
});

test('a worker that goes away just as it is woken passes the wake-up on', async () => {
  const { queue, take } = setUp();
  const gone = new AbortController();
  const leaving = queue.take(1, gone.signal);
  const staying = take(1);
  await settle();
  queue.add('a');
  gone.abort();
  assert.deepEqual(await leaving, []);
  assert.deepEqual(await staying, ['a']);
});

test('a key that comes back at an instant of the wall clock comes then, and when the clock is set forward past it', async () => {
  const { clock, queue } = setUp();
  queue.addAt('later', clock.now() + 3_600_000);
  queue.addAt('soon', clock.now() + 10_000);
  await clock.advance(9_999);
  assert.equal(queue.depth, 0);
  await clock.advance(1);
  assert.equal(queue.depth, 1);
  clock.stepWall(3_600_000);
  await clock.advance(30_000);
  assert.equal(queue.depth, 2);
});

test('a clock that is set back hands out nothing early', async () => {
  const { clock, queue } = setUp();
  queue.addAt('a', clock.now() + 60_000);
  clock.stepWall(-3_600_000);
  await clock.advance(120_000);
  assert.equal(queue.depth, 0);
  await clock.advance(3_600_000);
  assert.equal(queue.depth, 1);
});

test('an instant that has passed is now, and of two the earlier one counts', async () => {
  const { clock, queue } = setUp();
  queue.addAt('past', clock.now() - 1);
  queue.addAt('twice', clock.now() + 50_000);
  queue.addAt('twice', clock.now() + 5_000);
  await clock.advance(0);
  assert.equal(queue.depth, 1);
  await clock.advance(5_000);
  assert.equal(queue.depth, 2);
  await clock.advance(60_000);
  assert.equal(queue.depth, 2);
});

test('a key that is taken forgets when it was to come back', async () => {
  const { clock, queue, take } = setUp();
  queue.addAt('a', clock.now() + 5_000);
  queue.add('a');
  await take();
  queue.done('a');
  await clock.advance(60_000);
  assert.equal(queue.depth, 0);
});

test('a delay far beyond what a timer can hold does not fire at once', async () => {
  const { clock, queue } = setUp();
  queue.addAt('a', clock.now() + 2 ** 40);
  await clock.advance(3_600_000);
  assert.equal(queue.depth, 0);
  assert.equal(queue.delayed, 1);
  await queue.drain(0);
});

test('a failing key waits 5 ms, doubling to 1,000 s, until it succeeds', () => {
  const delays = new RetryDelays<string>({ clock: new FakeClock() });
  const waits = Array.from({ length: 20 }, () => delays.next('a'));
  assert.deepEqual(waits.slice(0, 5), [5, 10, 20, 40, 80]);
  assert.equal(waits[17], 655_360);
  assert.equal(waits[18], 1_000_000);
  assert.equal(waits[19], 1_000_000);
  assert.equal(delays.failuresOf('a'), 20);
  for (let n = 0; n < 20; n += 1) assert.equal(delays.next(`other-${n}`), 5, 'other keys have their own delay');
  delays.forget('a');
  assert.equal(delays.next('a'), 5);
});

test('retries share a bucket of 100, refilled with 10 a second', async () => {
  const clock = new FakeClock();
  const delays = new RetryDelays<number>({ clock });
  const waits = Array.from({ length: 120 }, (_, key) => delays.next(key));
  assert.deepEqual(new Set(waits.slice(0, 100)), new Set([5]));
  assert.equal(waits[100], 100);
  assert.equal(waits[119], 2_000);
  await clock.advance(2_000 + 10_000);
  const later = Array.from({ length: 101 }, (_, key) => delays.next(1_000 + key));
  assert.equal(later[99], 5, 'after ten idle seconds the bucket is full again');
  assert.equal(later[100], 100);
});

test('a retried key comes after its delay, and its success makes the next failure a first one', async () => {
  const { clock, queue, take } = setUp();
  for (const wait of [5, 10, 20]) {
    queue.retry('a');
    await clock.advance(wait - 1);
    assert.equal(queue.depth, 0, `before ${wait} ms`);
    await clock.advance(1);
    assert.deepEqual(await take(), ['a']);
    queue.done('a');
  }
  assert.equal(queue.failuresOf('a'), 3);
  queue.forget('a');
  queue.retry('a');
  await clock.advance(5);
  assert.equal(queue.depth, 1);
});

test('until it is opened a queue takes nothing in', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>({ clock, metrics: { added: () => assert.fail(), waited() {}, worked() {} } });
  queue.add('a');
  queue.addAt('b', clock.now());
  queue.addAfter('c', 0);
  await clock.advance(1_000);
  assert.equal(queue.depth + queue.delayed, 0);
  assert.equal(clock.sleepers, 0);
});

test('draining takes no new keys, drops the delayed ones, and waits for the rest', async () => {
  const { clock, queue, take } = setUp();
  queue.add('a');
  queue.add('b');
  queue.addAt('delayed', clock.now() + 1_000);
  assert.deepEqual(await take(1), ['a']);
  const drained = queue.drain(5_000);
  queue.add('new');
  queue.addAfter('new', 0);
  await clock.advance(2_000);
  assert.deepEqual(await take(), ['b']);
  queue.done('a');
  queue.done('b');
  assert.equal(await drained, true);
  assert.deepEqual(await take(), [], 'workers of a drained queue are sent home');
  assert.equal(clock.sleepers, 0);
});

test('draining sends waiting workers home, and gives up after its time', async () => {
  const { clock, queue, take } = setUp();
  queue.add('stuck');
  await take();
  const waiting = take();
  const drained = queue.drain(5_000);
  assert.deepEqual(await waiting, []);
  await clock.advance(5_000);
  assert.equal(await drained, false);
});

test('tells how long keys waited and were worked on', async () => {
  const { clock, counts, queue, take } = setUp();
  queue.add('a');
  await clock.advance(2_000);
  await take();
  await clock.advance(500);
  queue.done('a');
  assert.deepEqual(counts.waited, [2]);
  assert.deepEqual(counts.worked, [0.5]);
});

test('30,000 keys go through in linear time', async () => {
  const { queue, take } = setUp();
  const before = process.threadCpuUsage();
  for (let n = 0; n < 30_000; n += 1) queue.add(`key-${n}`);
  for (let n = 0; n < 30_000; n += 1) {
    const [key] = await take(1);
    assert.equal(key, `key-${n}`);
    queue.done(`key-${n}`);
  }
  const { user } = process.threadCpuUsage(before);
  assert.ok(user < 1_000_000, `${user / 1_000} ms`);
});
