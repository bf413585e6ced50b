import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { settle } from '@cronjob-monitor/shared/testing';
import { createTakingAgain } from './until-stored.ts';

/** Takes runs by name; each ends when the test says so. */
function aTaking(t: TestContext, findAwaited: (runs: readonly string[]) => Promise<ReadonlySet<string>>) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const again = createTakingAgain<string>({
    findAwaited,
    take(run) {
      begun.push(run);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(run, resolve);
      return promise;
    },
    signal: t.signal,
  });
  const end = async (run: string): Promise<void> => {
    ends.get(run)?.();
    await settle();
  };
  return { again, begun, end };
}

test('runs of an earlier leader are taken one after the other, those that a message waits for at once', async (t) => {
  const awaited = new Set(['b', 'd']);
  const { again, begun, end } = aTaking(t, (runs) => Promise.resolve(awaited.intersection(new Set(runs))));
  const all = ['a', 'b', 'c', 'd'].map((run) => again(run));
  await settle();
  assert.deepEqual(begun.toSorted(), ['a', 'b', 'd']);
  await end('b');
  await end('d');
  assert.equal(begun.length, 3, 'the others wait for one of theirs');
  await end('a');
  assert.deepEqual(begun.at(-1), 'c');
  await end('c');
  await Promise.all(all);
});

test('a run that a leader had time for is taken only when a message waits for it', async (t) => {
  const { again, begun, end } = aTaking(t, (runs) => Promise.resolve(new Set(runs.filter((run) => run === 'b'))));
  const all = ['a', 'b'].map((run) => again(run, true));
  await settle();
  assert.deepEqual(begun, ['b']);
  await end('b');
  await Promise.all(all);
});

test('when it cannot be asked what is waited for, nothing waits', async (t) => {
  const { again, begun, end } = aTaking(t, () => Promise.reject(new Error('the database is away')));
  const all = ['a', 'b'].map((run) => again(run));
  await settle();
  assert.deepEqual(begun, ['a', 'b']);
  await end('a');
  await end('b');
  await Promise.all(all);
});
