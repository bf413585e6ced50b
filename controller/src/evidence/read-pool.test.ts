import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadPool } from './read-pool.ts';

const never = new AbortController().signal;

/** A read that ends when told to. */
function openRead(): { read: () => Promise<string>; end: () => void; started: () => boolean } {
  const { promise, resolve } = Promise.withResolvers<string>();
  let begun = false;
  return {
    read: () => {
      begun = true;
      return promise;
    },
    end: () => resolve('done'),
    started: () => begun,
  };
}

test('a third read of one node waits until one of the two has ended', async () => {
  const pool = createReadPool({ concurrency: 8, perNode: 2 });
  const reads = [openRead(), openRead(), openRead()];
  const ends = reads.map(({ read }) => pool.run('node-1', read, never));
  await Promise.resolve();
  assert.deepEqual(
    reads.map(({ started }) => started()),
    [true, true, false],
  );
  assert.equal(pool.waiting, 1);
  reads[0]?.end();
  await ends[0];
  await Promise.resolve();
  assert.equal(reads[2]?.started(), true);
  for (const { end } of reads) end();
  await Promise.all(ends);
});

test('a busy node does not delay the reads of another', async () => {
  const pool = createReadPool({ concurrency: 3, perNode: 1 });
  const [first, second, other] = [openRead(), openRead(), openRead()];
  const ends = [
    pool.run('busy', first.read, never),
    pool.run('busy', second.read, never),
    pool.run('free', other.read, never),
  ];
  await Promise.resolve();
  assert.deepEqual([first.started(), second.started(), other.started()], [true, false, true]);
  for (const read of [first, second, other]) read.end();
  await Promise.all(ends);
});

test('a failed read gives its place back', async () => {
  const pool = createReadPool({ concurrency: 1, perNode: 1 });
  await assert.rejects(
    pool.run('n', () => Promise.reject(new Error('cut')), never),
    /cut/,
  );
  assert.equal(await pool.run('n', () => Promise.resolve('next'), never), 'next');
});

test('who is aborted while waiting leaves the line and takes no place', async () => {
  const pool = createReadPool({ concurrency: 1, perNode: 1 });
  const open = openRead();
  const first = pool.run('n', open.read, never);
  const stop = new AbortController();
  const second = pool.run('n', () => Promise.resolve('never'), stop.signal);
  stop.abort(new Error('stopping'));
  await assert.rejects(second, /stopping/);
  open.end();
  await first;
  assert.equal(await pool.run('n', () => Promise.resolve('free again'), never), 'free again');
});

test('what is about to be deleted is read before what a message waits for, and that before what is only kept', async () => {
  const pool = createReadPool({ concurrency: 1, perNode: 1 });
  const first = openRead();
  const order: string[] = [];
  const read = (name: string, urgency?: 'now' | 'soon' | 'later'): Promise<number> =>
    pool.run('n', () => Promise.resolve(order.push(name)), never, urgency);
  const ends = [
    pool.run('n', first.read, never),
    read('kept', 'later'),
    read('told'),
    read('going', 'now'),
    read('told next'),
  ];
  first.end();
  await Promise.all(ends);
  assert.deepEqual(order, ['going', 'told', 'told next', 'kept']);
});
