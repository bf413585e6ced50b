import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '@cronjob-monitor/shared/store';
import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';
import { askInTurn } from './ask.ts';
import { Silence } from './silence.ts';

const clock = (): FakeClock => new FakeClock(0);

test('some are asked at a time, and the answers stand in the order of the questions', async () => {
  let open = 0;
  let most = 0;
  const all = Array.from({ length: 600 }, (_, index) => index);
  const answers = await askInTurn(all, { clock: clock() }, async (one) => {
    most = Math.max(most, ++open);
    await settle();
    open--;
    return one * 2;
  });
  assert.deepEqual(
    answers,
    all.map((one) => ({ answer: one * 2 })),
  );
  assert.equal(most, 32);
});

test('each has its time from when it is asked: one that does not answer costs none of the others theirs', async () => {
  const time = clock();
  const asked: number[] = [];
  const all = Array.from({ length: 300 }, (_, index) => index);
  const answers = askInTurn(all, { clock: time }, (one) => {
    asked.push(one);
    return one < 32 ? new Promise<never>(() => {}) : Promise.resolve(one);
  });
  await settle();
  assert.equal(asked.length, 32);
  await time.advance(3_000);
  const texts = (await answers).map((one) => ('answer' in one ? one.answer : one.problem));
  assert.deepEqual(texts.slice(31, 34), ['its rows did not come in time', 32, 33]);
});

test('what the database refuses is an answer, and a fault of ours is none', async () => {
  const failing = (error: Error) => askInTurn([1], { clock: clock() }, () => Promise.reject(error));
  const [one] = await failing(new StoreError('schema', 'no such table'));
  assert.ok(one && 'problem' in one);
  assert.match(one.problem, /bring both to the same version/);
  await assert.rejects(failing(new TypeError('ours')), /ours/);
});

test('one that was waited for in vain is waited for no more until it has answered a question in the background', async () => {
  const time = clock();
  const logger = new RecordingLogger();
  const stopping = new AbortController();
  let answers: (() => Promise<void>) | undefined;
  const never = (): Promise<void> => new Promise(() => {});
  const background: PromiseWithResolvers<void>[] = [];
  const question = async (): Promise<void> => {
    if (answers) return answers();
    const one = Promise.withResolvers<void>();
    background.push(one);
    return one.promise;
  };
  const silence = new Silence('us', { ask: question, clock: time, logger, signal: stopping.signal });
  const all = ['eu', 'us'];
  let asked = 0;
  const list = (ofUs: () => Promise<void>) =>
    askInTurn(all, { clock: time, silenceOf: (one) => (one === 'us' ? silence : undefined) }, async (one) => {
      if (one === 'eu') return 'rows';
      asked++;
      await ofUs();
      return 'rows';
    });

  const first = list(never);
  await settle();
  await time.advance(3_000);
  assert.deepEqual(await first, [{ answer: 'rows' }, { problem: 'its rows did not come in time' }]);
  const left = [
    { answer: 'rows' },
    { problem: 'it has answered nothing since 1970-01-01T00:00:00.000Z, and is shown again as soon as it does' },
  ];
  assert.deepEqual(await list(never), left, 'at once, without a step of the clock');
  assert.equal(asked, 1);

  background[0]?.reject(new StoreError('timeout', 'the statement took too long'));
  await settle();
  assert.deepEqual(await list(never), left, 'no answer is none');
  assert.equal(background.length, 1);
  await time.advance(1_000);
  assert.equal(background.length, 2, 'and it is asked again');
  background[1]?.resolve();
  await settle();
  assert.deepEqual(await list(async () => {}), [{ answer: 'rows' }, { answer: 'rows' }]);
  assert.deepEqual(
    logger.lines.map(({ message }) => message),
    ['A cluster does not answer: lists leave it out', 'A cluster answers again'],
  );

  const stuck = list(never);
  await settle();
  answers = () => Promise.reject(new StoreError('schema', 'no such table'));
  await time.advance(3_000);
  await stuck;
  await settle();
  assert.equal(silence.sinceAt, undefined, 'what is refused for good is an answer: lists hear it at once');
  answers = () => Promise.reject(new StoreError('closed', 'the store was closed'));
  silence.begin(0);
  await settle();
  stopping.abort();
  await settle();
  await time.advance(10_000);
  assert.equal(silence.sinceAt, undefined, 'one that is gone is not asked any more');
});
