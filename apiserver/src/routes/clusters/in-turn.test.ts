import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '@cronjob-monitor/shared/store';
import { FakeClock, settle } from '@cronjob-monitor/shared/testing';
import { askInTurn, whyUnread } from './in-turn.ts';

const clock = (): FakeClock => new FakeClock(0);

test('some are asked at a time, and the answers stand in the order of the questions', async () => {
  let open = 0;
  let most = 0;
  const all = Array.from({ length: 100 }, (_, index) => index);
  const answers = await askInTurn(all, clock(), async (one) => {
    most = Math.max(most, ++open);
    await settle();
    open--;
    return one * 2;
  });
  assert.deepEqual(
    answers,
    all.map((one) => ({ answer: one * 2 })),
  );
  assert.equal(most, 8);
});

test('each has its time from when it is asked: one that does not answer costs none of the others theirs', async () => {
  const time = clock();
  const asked: number[] = [];
  const all = Array.from({ length: 40 }, (_, index) => index);
  const answers = askInTurn(all, time, (one) => {
    asked.push(one);
    return one < 8 ? new Promise<never>(() => {}) : Promise.resolve(one);
  });
  await settle();
  assert.equal(asked.length, 8);
  await time.advance(3_000);
  const texts = (await answers).map((one) => ('answer' in one ? one.answer : whyUnread(one.failure)));
  assert.deepEqual(texts.slice(7, 10), ['its rows did not come in time', 8, 9]);
});

test('what the database refuses is an answer, and a fault of ours is none', async () => {
  const failing = (error: Error) => askInTurn([1], clock(), () => Promise.reject(error));
  const [one] = await failing(new StoreError('schema', 'no such table'));
  assert.ok(one && 'failure' in one);
  assert.match(whyUnread(one.failure), /bring both to the same version/);
  await assert.rejects(failing(new TypeError('ours')), /ours/);
});
