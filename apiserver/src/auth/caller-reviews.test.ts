import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessQuestion, Identity } from '@cronjob-monitor/shared/kube';
import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';
import { createReviews, type ReviewDeps } from './caller-reviews.ts';

const ana: Identity = { user: 'ana', uid: '1', groups: ['dev'], extra: {} };
const question: AccessQuestion = { verb: 'list', group: 'batch', resource: 'cronjobs', namespace: 'prod' };

/** Reviews of a cluster that answers as `answers` say, with all that was counted and logged. */
function someReviews(answers: Partial<ReviewDeps['cluster']> = {}, more: Partial<ReviewDeps> = {}) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const counted: string[] = [];
  const asked = { tokens: 0, rights: 0 };
  const reviews = createReviews({
    cluster: {
      reviewToken: (token, signal, audiences) => {
        asked.tokens += 1;
        return (answers.reviewToken ?? (async () => ana))(token, signal, audiences);
      },
      reviewAccess: (identity, about, signal) => {
        asked.rights += 1;
        return (answers.reviewAccess ?? (async () => true))(identity, about, signal);
      },
    },
    clock,
    logger,
    audiences: [],
    count: (kind, result) => counted.push(`${kind} ${result}`),
    ...more,
  });
  return { reviews, clock, logger, counted, asked };
}

const unavailable = { code: 'REVIEW_UNAVAILABLE', status: 503 };

test('an answer about a token holds its time, and each token is asked for by itself', async () => {
  const { reviews, clock, asked, counted } = someReviews();
  assert.equal(await reviews.identityOf('a'), ana);
  await clock.advance(59_999);
  await reviews.identityOf('a');
  assert.equal(asked.tokens, 1);
  await reviews.identityOf('b');
  await clock.advance(1);
  await reviews.identityOf('a');
  assert.equal(asked.tokens, 3);
  assert.deepEqual(counted, ['token allowed', 'token cached', 'token allowed', 'token allowed']);
});

test('a token that is withdrawn is refused as soon as its review has run out', async () => {
  let isKnown = true;
  const { reviews, clock } = someReviews({ reviewToken: async () => (isKnown ? ana : undefined) });
  assert.equal(await reviews.identityOf('a'), ana);
  isKnown = false;
  await clock.advance(60_000);
  assert.equal(await reviews.identityOf('a'), undefined);
});

for (const [isAllowed, heldMs] of [
  [true, 300_000],
  [false, 30_000],
] as const) {
  test(`an access that is ${isAllowed ? 'granted' : 'denied'} holds for ${heldMs / 1000} s`, async () => {
    const { reviews, clock, asked } = someReviews({ reviewAccess: async () => isAllowed });
    assert.equal(await reviews.isAllowed(ana, question), isAllowed);
    await clock.advance(heldMs - 1);
    assert.equal(await reviews.isAllowed(ana, question), isAllowed);
    assert.equal(asked.rights, 1);
    await clock.advance(1);
    await reviews.isAllowed(ana, question);
    assert.equal(asked.rights, 2);
  });
}

test('one caller is not answered with what holds for another, or for another question', async () => {
  const { reviews, asked } = someReviews();
  await reviews.isAllowed(ana, question);
  await reviews.isAllowed({ ...ana, user: 'bob' }, question);
  await reviews.isAllowed({ ...ana, groups: ['dev', 'ops'] }, question);
  await reviews.isAllowed({ ...ana, extra: { scopes: ['x'] } }, question);
  await reviews.isAllowed(ana, { ...question, namespace: 'dev' });
  await reviews.isAllowed(ana, { ...question, namespace: undefined });
  assert.equal(asked.rights, 6);
});

test('who asks the same at the same time waits for one answer', async () => {
  const { reviews, asked } = someReviews();
  await Promise.all([reviews.identityOf('a'), reviews.identityOf('a'), reviews.identityOf('a')]);
  assert.equal(asked.tokens, 1);
});

test('closed when the cluster cannot be asked: told once, nothing kept, open again with the next answer', async () => {
  let works = false;
  const { reviews, asked, logger, counted } = someReviews({
    reviewToken: async () => {
      if (!works) throw new Error('away');
      return ana;
    },
  });
  await assert.rejects(reviews.identityOf('a'), unavailable);
  await assert.rejects(reviews.identityOf('a'), unavailable);
  assert.equal(asked.tokens, 2);
  works = true;
  assert.equal(await reviews.identityOf('a'), ana);
  assert.deepEqual(
    logger.lines.map(({ level }) => level),
    ['warn', 'info'],
  );
  assert.deepEqual(counted, ['token error', 'token error', 'token allowed']);
});

test('what is kept answers while the cluster is away, and no longer than it holds', async () => {
  let works = true;
  const { reviews, clock } = someReviews({
    reviewAccess: async () => {
      if (!works) throw new Error('away');
      return true;
    },
  });
  await reviews.isAllowed(ana, question);
  works = false;
  await clock.advance(299_999);
  assert.equal(await reviews.isAllowed(ana, question), true);
  await clock.advance(1);
  await assert.rejects(reviews.isAllowed(ana, question), unavailable);
});

test('a review that takes 10 s is given up, and the call with it', async () => {
  let given: AbortSignal | undefined;
  const { reviews, clock } = someReviews({
    reviewToken: (_token, signal) => {
      given = signal;
      return new Promise(() => {});
    },
  });
  const answer = assert.rejects(reviews.identityOf('a'), unavailable);
  await clock.advance(10_000);
  await answer;
  assert.equal(given?.aborted, true);
  assert.equal(clock.sleepers, 0);
});

test('a flood of questions is refused beyond a hundred, and the rest goes on', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { reviews, asked } = someReviews({
    reviewToken: async () => {
      await released;
      return undefined;
    },
  });
  const waiting = Array.from({ length: 100 }, (_, index) => reviews.identityOf(`invented ${index}`));
  await settle();
  await assert.rejects(reviews.identityOf('one too many'), unavailable);
  assert.equal(asked.tokens, 100);
  release();
  assert.ok((await Promise.all(waiting)).every((identity) => identity === undefined));
  await reviews.identityOf('one too many');
});

test('invented tokens fill no memory and drive out no good one', async () => {
  const { reviews, asked } = someReviews({ reviewToken: async (token) => (token === 'good' ? ana : undefined) });
  await reviews.identityOf('good');
  for (let index = 0; index < 1_100; index += 1) await reviews.identityOf(`invented ${index}`);
  assert.equal(asked.tokens, 1_101);
  await reviews.identityOf('good');
  assert.equal(asked.tokens, 1_101, 'the good one is still known');
  await reviews.identityOf('invented 0');
  assert.equal(asked.tokens, 1_102, 'the first invented one is forgotten');
});

test('tokens are asked for with the audiences that are configured', async () => {
  const seen: unknown[] = [];
  const { reviews } = someReviews(
    {
      reviewToken: async (_token, _signal, audiences) => {
        seen.push(audiences);
        return ana;
      },
    },
    { audiences: ['monitor'] },
  );
  await reviews.identityOf('a');
  assert.deepEqual(seen, [['monitor']]);
});
