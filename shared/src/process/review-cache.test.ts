import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock, RecordingLogger } from '../testing/index.ts';
import { ReviewCache, type Review } from './review-cache.ts';

function aCache(answer: (token: string, signal: AbortSignal) => Promise<Review>) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  let asked = 0;
  const cache = new ReviewCache({
    review: (token, signal) => {
      asked += 1;
      return answer(token, signal);
    },
    clock,
    logger,
  });
  return { cache, clock, logger, asked: () => asked };
}

for (const [review, heldMs] of [
  ['allowed', 60_000],
  ['unauthenticated', 60_000],
  ['denied', 30_000],
] as const) {
  test(`${review} holds for ${heldMs / 1000} s, each token for itself`, async () => {
    const { cache, clock, asked } = aCache(async () => review);
    assert.equal(await cache.ask('a'), review);
    await clock.advance(heldMs - 1);
    assert.equal(await cache.ask('a'), review);
    assert.equal(asked(), 1);
    await cache.ask('b');
    assert.equal(asked(), 2);
    await clock.advance(1);
    await cache.ask('a');
    assert.equal(asked(), 3);
  });
}

test('callers with one token at once are one question', async () => {
  const { cache, asked } = aCache(async () => 'allowed');
  assert.deepEqual(await Promise.all([cache.ask('a'), cache.ask('a')]), ['allowed', 'allowed']);
  assert.equal(asked(), 1);
});

test('a failed review lets no caller through, is not kept, and is told once', async () => {
  let works = false;
  const { cache, logger, asked } = aCache(() =>
    works ? Promise.resolve('allowed') : Promise.reject(new Error('away')),
  );
  assert.equal(await cache.ask('a'), 'unavailable');
  assert.equal(await cache.ask('a'), 'unavailable');
  assert.equal(asked(), 2);
  works = true;
  assert.equal(await cache.ask('a'), 'allowed');
  assert.deepEqual(
    logger.lines.map(({ level }) => level),
    ['warn', 'info'],
  );
});

test('what is kept answers while the cluster is away', async () => {
  let works = true;
  const { cache, clock } = aCache(() => (works ? Promise.resolve('allowed') : Promise.reject(new Error('away'))));
  await cache.ask('a');
  works = false;
  await clock.advance(59_000);
  assert.equal(await cache.ask('a'), 'allowed');
  await clock.advance(1000);
  assert.equal(await cache.ask('a'), 'unavailable');
});

test('a review that takes 10 s is given up and told so', async () => {
  let told: AbortSignal | undefined;
  const { cache, clock } = aCache((_token, signal) => {
    told = signal;
    return new Promise(() => {});
  });
  const answer = cache.ask('a');
  await clock.advance(10_000);
  assert.equal(await answer, 'unavailable');
  assert.equal(told?.aborted, true);
  assert.equal(clock.sleepers, 0);
});

test('invented tokens fill no memory: the oldest of a thousand goes', async () => {
  const { cache, asked } = aCache(async () => 'unauthenticated');
  for (let token = 0; token <= 1000; token += 1) await cache.ask(String(token));
  await cache.ask('1000');
  await cache.ask('1');
  assert.equal(asked(), 1001);
  await cache.ask('0');
  assert.equal(asked(), 1002);
});
