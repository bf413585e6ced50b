import assert from 'node:assert/strict';
import { beforeEach, describe, mock, test } from 'node:test';
import { ApiError, type Answer } from '../api/client.ts';
import type { Hint } from '../api/stream.ts';
import { live } from './live.svelte.ts';
import { now } from './now.svelte.ts';
import { Resource } from './resource.svelte.ts';

const beginAt = Date.parse('2026-11-21T14:03:00.000Z');

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: beginAt });
  now.sync(Date.now());
});

const answer = <T>(value: T, changed = true): Answer<T> => ({ value, changed, servedAt: undefined });

function failure(status: number, retryAfterSeconds: number | null = null): ApiError {
  return new ApiError({ message: 'No', code: 'X', status, requestId: 'r', retryAfterSeconds });
}

/** A question whose answers are given by hand, one after the other. */
function aQuestion() {
  const open: { resolve: (value: Answer<number>) => void; reject: (error: unknown) => void; signal: AbortSignal }[] =
    [];
  const resource = new Resource<number>((signal) => {
    return new Promise((resolve, reject) => open.push({ resolve, reject, signal }));
  });
  return { resource, open };
}

/** Lets everything that waits for an answer go on. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

describe('a resource that a change can be merged into', () => {
  const hint = { kind: 'health', data: {} } as Hint;
  const ready = async () => {
    let asked = 0;
    const resource = new Resource<number>(() => Promise.resolve(answer(++asked)), {
      concerns: () => true,
      merge: (value) => (value < 50 ? value + 10 : undefined),
    });
    await resource.refresh();
    return { resource, askedTimes: () => asked };
  };

  test('shows it without asking', async () => {
    const { resource, askedTimes } = await ready();
    assert.equal(resource.takes(hint), true);
    assert.deepEqual([resource.value, askedTimes()], [11, 1]);
  });

  test('leaves to a question what the change does not say, what is under way, and what is old', async () => {
    const { resource } = await ready();
    while (resource.takes(hint));
    assert.equal(resource.value, 51);
    const { resource: asking } = await ready();
    const again = asking.refresh();
    assert.equal(asking.takes(hint), false);
    await again;
    assert.equal(asking.takes(hint), true);
    now.sync(Date.now() + 301_000);
    assert.equal(asking.takes(hint), false);
  });
});

describe('a resource', () => {
  test('goes from loading to ready', async () => {
    const { resource, open } = aQuestion();
    const asked = resource.refresh();
    assert.deepEqual([resource.phase, resource.isLoading], ['loading', true]);
    open[0]?.resolve(answer(7));
    await asked;
    assert.deepEqual([resource.phase, resource.value, resource.isLoading], ['ready', 7, false]);
  });

  test('keeps what it has while it asks again, and when that fails', async () => {
    const { resource, open } = aQuestion();
    void resource.refresh();
    open[0]?.resolve(answer(7));
    await settle();
    const again = resource.refresh();
    assert.equal(resource.value, 7);
    open[1]?.reject(failure(503));
    await again;
    assert.deepEqual([resource.phase, resource.value, resource.error?.status], ['failed', 7, 503]);
  });

  test('has one request in flight: more wishes become a single further one', async () => {
    const { resource, open } = aQuestion();
    void resource.refresh();
    void resource.refresh();
    void resource.refresh();
    assert.equal(open.length, 1);
    open[0]?.resolve(answer(1));
    await settle();
    assert.equal(open.length, 2);
    open[1]?.resolve(answer(2));
    await settle();
    assert.deepEqual([open.length, resource.value], [2, 2]);
  });

  test('does not replace a value by the same answer', async () => {
    const first = { a: 1 };
    const values = [answer(first), answer({ a: 1 }, false)];
    const resource = new Resource(async () => values.shift() ?? answer(first));
    await resource.refresh();
    await resource.refresh();
    assert.equal(resource.value, first);
  });

  test('tries again by itself, waiting longer each time, and not before the server wants it', async () => {
    let calls = 0;
    const resource = new Resource<number>(async () => {
      calls++;
      throw failure(503, calls === 3 ? 60 : null);
    });
    await resource.refresh();
    assert.ok(resource.retryAt !== undefined && resource.retryAt <= beginAt + 1_000);
    mock.timers.tick(1_000);
    await settle();
    assert.equal(calls, 2);
    mock.timers.tick(2_000);
    await settle();
    assert.equal(calls, 3);
    mock.timers.tick(59_000);
    await settle();
    assert.equal(calls, 3, 'Retry-After is 60 s');
    mock.timers.tick(1_000);
    await settle();
    assert.equal(calls, 4);
    resource.stop();
  });

  test('does not ask again what the server refuses, until it is asked to', async () => {
    let calls = 0;
    const resource = new Resource<number>(async () => {
      calls++;
      throw failure(403);
    });
    await resource.refresh();
    assert.equal(resource.retryAt, undefined);
    await resource.reload();
    mock.timers.tick(120_000);
    await settle();
    assert.equal(calls, 1);
    await resource.refresh();
    assert.equal(calls, 2);
  });

  test('aborts its request when the part goes away, and takes no late answer', async () => {
    const { resource, open } = aQuestion();
    const stop = resource.start();
    stop();
    assert.equal(open[0]?.signal.aborted, true);
    open[0]?.resolve(answer(7));
    await settle();
    assert.equal(resource.value, undefined);
  });

  test('forgets what it had when the question changes', async () => {
    const { resource, open } = aQuestion();
    void resource.refresh();
    open[0]?.resolve(answer(1));
    await settle();
    void resource.restart();
    assert.deepEqual([resource.value, resource.phase], [undefined, 'loading']);
    open[1]?.resolve(answer(2));
    await settle();
    assert.equal(resource.value, 2);
  });

  test('is old 30 s after the last answer, and not while a stream tells of changes', async () => {
    const resource = new Resource(async () => answer(1));
    await resource.refresh();
    assert.equal(resource.isStale, false);
    mock.timers.tick(31_000);
    now.sync(Date.now() + 5_000); // another reading of the clock moves it on
    assert.equal(resource.isStale, true);
  });

  test('that does not live is never old', async () => {
    const resource = new Resource(async () => answer(1), { isLive: false });
    await resource.refresh();
    mock.timers.tick(3_600_000);
    now.sync(Date.now() + 9_000);
    assert.equal(resource.isStale, false);
  });

  test('tells that the server is lost when it does not answer, and that it is back', async () => {
    const results: (() => Answer<number>)[] = [
      () => {
        throw failure(0);
      },
      () => answer(1),
    ];
    const resource = new Resource<number>(async () => (results.shift() ?? (() => answer(1)))());
    await resource.refresh();
    assert.notEqual(live.retryAt, undefined);
    await resource.refresh();
    assert.equal(live.retryAt, undefined);
  });

  test('turns what is no answer of the API into a failure with words', async () => {
    const resource = new Resource<number>(async () => {
      throw new SyntaxError('Unexpected token');
    });
    await resource.refresh();
    assert.deepEqual([resource.error?.code, resource.error?.message], ['BAD_ANSWER', 'The answer could not be read']);
    resource.stop();
  });
});
