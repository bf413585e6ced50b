import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ClusterEvent } from '@cronjob-monitor/shared/kube';
import { FakeClock, settle } from '@cronjob-monitor/shared/testing';
import { createEventReader } from './event-reader.ts';

/** A cluster in which each object has one event; `isLarge`: there are too many for one list. */
function aReader(test: TestContext, of: { readonly isLarge?: boolean; readonly fails?: boolean } = {}) {
  const clock = new FakeClock();
  const stop = new AbortController();
  test.after(() => stop.abort(new Error('over')));
  const asked: string[] = [];
  const open: (() => void)[] = [];
  let most = 0;
  const answered = async (what: string): Promise<void> => {
    asked.push(what);
    const { promise, resolve } = Promise.withResolvers<void>();
    open.push(resolve);
    most = Math.max(most, open.length);
    await promise;
    open.splice(open.indexOf(resolve), 1);
  };
  const reader = createEventReader({
    cluster: {
      async listEvents(_namespace, uid) {
        await answered(uid);
        return [anEvent(uid)];
      },
      async listAllEvents(namespace) {
        await answered(`all of ${namespace}`);
        if (of.fails) throw new Error('cut');
        return of.isLarge ? undefined : Array.from({ length: 40 }, (_, number) => anEvent(`u-${number}`));
      },
    },
    clock,
    signal: stop.signal,
  });
  const answerAll = async (): Promise<void> => {
    for (await settle(); open.length > 0; await settle()) [...open].forEach((answer) => answer());
  };
  const read = (count: number, from = 0): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, number) =>
        (await reader.read('prod', [`u-${from + number}`])).map(({ objectUid }) => objectUid).join(),
      ),
    );
  return { reader, clock, stop, asked, answerAll, read, most: () => most };
}

function anEvent(objectUid: string): ClusterEvent {
  const about = { type: 'Warning', reason: 'BackOff', message: '', count: 1, object: 'Pod/p', objectUid };
  return { uid: `e-${objectUid}`, ...about, firstAt: 1, lastAt: 1 };
}

test('a few runs are asked for one by one, eight at once', async (t) => {
  const { read, asked, answerAll, most } = aReader(t);
  const reading = read(10);
  await answerAll();
  assert.deepEqual(
    await reading,
    Array.from({ length: 10 }, (_, number) => `u-${number}`),
  );
  assert.deepEqual([asked.length, most()], [10, 8]);
});

test('where eight runs of a namespace wait one list of its events serves all of them, and what asks within a second', async (t) => {
  const { read, asked, answerAll, clock } = aReader(t);
  const reading = read(30);
  await answerAll();
  assert.deepEqual(
    await reading,
    Array.from({ length: 30 }, (_, number) => `u-${number}`),
  );
  assert.deepEqual([asked.length, asked.at(-1)], [9, 'all of prod']);
  await clock.advance(1_000);
  assert.deepEqual(await read(1, 35), ['u-35']);
  assert.equal(asked.length, 9);
  await clock.advance(1);
  const later = read(1, 36);
  await answerAll();
  assert.deepEqual([await later, asked.at(-1)], [['u-36'], 'u-36']);
});

test('a namespace with too many events for one list is asked for each run, eight at once', async (t) => {
  const { read, asked, answerAll, most } = aReader(t, { isLarge: true });
  const reading = read(30);
  await answerAll();
  assert.equal((await reading).at(-1), 'u-29');
  assert.deepEqual([asked.filter((what) => what === 'all of prod').length, asked.length, most()], [1, 31, 8]);
});

test('a list that fails is told to those who waited for it, and the next ask again', async (t) => {
  const { read, asked, answerAll } = aReader(t, { fails: true });
  const reading = read(30);
  const told = assert.rejects(reading, /cut/);
  await answerAll();
  await told;
  const next = read(1, 31);
  await answerAll();
  assert.deepEqual([await next, asked.at(-1)], [['u-31'], 'u-31']);
});

test('what waits as the term ends is told so', async (t) => {
  const { read, stop } = aReader(t);
  const reading = read(12);
  stop.abort(new Error('over'));
  await assert.rejects(reading, /over/);
});
