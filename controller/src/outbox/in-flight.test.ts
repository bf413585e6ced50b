import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InFlight } from './in-flight.ts';

const paces = { chat: { inFlight: 1, gapMs: 1_000 }, hook: { inFlight: 2, gapMs: 0 } } as const;

function start(): { readonly inFlight: InFlight; readonly time: { ms: number } } {
  const time = { ms: 0 };
  const paceOf = (uid: string) => (uid === 'gone' ? undefined : uid.startsWith('chat') ? paces.chat : paces.hook);
  return { inFlight: new InFlight({ paceOf, monotonicMs: () => time.ms }), time };
}

test('enough is claimed for many sends, and of a channel sixteen times as much as may be sent at once', () => {
  const { inFlight } = start();
  assert.deepEqual([inFlight.room, inFlight.roomOn('hook-1'), inFlight.roomOn('gone')], [128, 32, 1]);
  for (let times = 0; times < 32; times++) inFlight.claim('hook-1');
  inFlight.claim('hook-2');
  assert.deepEqual([inFlight.room, inFlight.roomOn('hook-1'), inFlight.roomOn('hook-2')], [95, 0, 31]);
  assert.deepEqual([inFlight.claimedOn('hook-1'), inFlight.fullChannels()], [32, ['hook-1']]);
  inFlight.settled('hook-1');
  assert.deepEqual([inFlight.count, inFlight.roomOn('hook-1'), inFlight.fullChannels()], [32, 1, []]);
});

test('it is time to claim more when all that is claimed may be sent at once', () => {
  const { inFlight } = start();
  for (let times = 0; times < 3; times++) inFlight.claim('hook-1');
  assert.equal(inFlight.isNearlyIdle('hook-1'), false);
  inFlight.settled('hook-1');
  assert.equal(inFlight.isNearlyIdle('hook-1'), true);
});

test('a chat is left alone for a second after a message was claimed, whenever that was settled', () => {
  const { inFlight, time } = start();
  inFlight.claim('chat');
  assert.equal(inFlight.roomOn('chat'), 0);
  time.ms = 300;
  inFlight.settled('chat');
  assert.deepEqual(
    [inFlight.roomOn('chat'), inFlight.pauseLeftMs('chat'), inFlight.fullChannels()],
    [0, 700, ['chat']],
  );
  time.ms = 1_000;
  assert.deepEqual([inFlight.roomOn('chat'), inFlight.fullChannels()], [1, []]);
});

test('it is busy while a channel has more claimed than may be sent at once', () => {
  const { inFlight } = start();
  inFlight.claim('hook-1');
  inFlight.claim('hook-1');
  inFlight.claim('hook-2');
  assert.equal(inFlight.isBusy, false);
  inFlight.claim('hook-1');
  assert.equal(inFlight.isBusy, true);
});

/** Which of the turns asked for have begun, after some of them were answered and some settled. */
async function begunOf(asked: readonly string[], { answered = 0, settled = 0 } = {}): Promise<number[]> {
  const { inFlight } = start();
  const begun: number[] = [];
  const turns = asked.map((uid, index) => {
    const answer = Promise.withResolvers<void>();
    const work = () => {
      begun.push(index);
      return answer.promise;
    };
    return { answer, done: inFlight.inTurn(uid, work) };
  });
  await Promise.resolve();
  const first = turns.slice(0, answered);
  for (const { answer } of first) answer.resolve();
  await Promise.all(first.map(({ done }) => done));
  for (let times = 0; times < settled; times++) inFlight.ended();
  await Promise.resolve();
  return begun;
}

test('two messages are sent to a channel at once, and one to a chat', async () => {
  assert.deepEqual(await begunOf(['hook', 'hook', 'hook', 'chat', 'chat']), [0, 1, 3]);
});

test('an answer makes room for the next message of its channel, in the order of asking', async () => {
  assert.deepEqual(await begunOf(['hook', 'hook', 'hook', 'hook'], { answered: 1 }), [0, 1, 2]);
});

test('eight are sent in all', async () => {
  const channels = ['a', 'b', 'c', 'd', 'e'].flatMap((uid) => [uid, uid]);
  assert.deepEqual(await begunOf(channels), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a turn is sending until its work has ended', async () => {
  const { inFlight } = start();
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const turns = answers.map(({ promise }, index) => inFlight.inTurn(`hook-${index}`, () => promise));
  assert.equal(inFlight.sending, 2);
  answers[0]?.resolve();
  await turns[0];
  assert.equal(inFlight.sending, 1);
});

test('a slow channel keeps back only its own messages', async () => {
  assert.deepEqual(await begunOf(['slow', 'slow', 'slow', 'slow', 'other']), [0, 1, 4]);
});

test('an answered message counts among the eight until its answer is written', async () => {
  const channels = ['a', 'b', 'c', 'd', 'e'].flatMap((uid) => [uid, uid]);
  assert.deepEqual(await begunOf(channels, { answered: 3 }), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await begunOf(channels, { answered: 3, settled: 1 }), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});
