import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { getChannel, type ChannelTarget, type Secrets } from '@cronjob-monitor/controller/channels';
import { chatFormats, type ChatFormat } from '@cronjob-monitor/shared/contract';
import { aDigestMessage, anAlertMessage, anOutgoing, aTestMessage } from '@cronjob-monitor/shared/testing';
import { startChatSink, type HttpSink } from '../sinks/index.ts';
import { anAttempt, canary, depsOf } from './receivers.ts';

const chat = getChannel('chat');
const never = new AbortController().signal;

const paths: Readonly<Record<ChatFormat, string>> = {
  slack: `/services/${canary}`,
  teams: `/workflows/${canary}`,
  googlechat: `/v1/spaces/AAAA/messages?key=${canary}`,
  discord: `/api/webhooks/42/${canary}`,
  mattermost: `/hooks/${canary}`,
  telegram: `/bot42:${canary}/sendMessage`,
  ntfy: `/backups?auth=${canary}`,
};

function receiverAt(format: ChatFormat, url: string): { readonly target: ChannelTarget; readonly secrets: Secrets } {
  const webhookSecretRef = { namespace: 'monitoring', name: 'receiver', key: 'url' };
  return {
    target: { type: 'chat', chat: { format, webhookSecretRef, defaultChannel: '-1001', messageTemplate: undefined } },
    secrets: () => new Map([['url', url]]),
  };
}

async function start(
  t: TestContext,
  format: ChatFormat,
): Promise<{ sink: HttpSink; send: (changes?: Parameters<typeof anAttempt>[1]) => ReturnType<typeof chat.send> }> {
  const sink = await startChatSink({}, format);
  t.after(() => sink.stop());
  const receiver = receiverAt(format, sink.url + paths[format]);
  return { sink, send: (changes = {}) => chat.send(anAttempt(receiver, changes), depsOf(), never) };
}

const long = 'A line of a log that is as long as the lines of programs often are. '.repeat(75);
const largest = anOutgoing({
  message: {
    kind: 'firing',
    data: anAlertMessage({
      alert: { title: long, message: long },
      job: { name: long, reason: long },
      context: {
        suggestedFix: long,
        logs: `${long}\n`.repeat(100),
        events: Array.from({ length: 20 }, () => ({
          time: null,
          type: 'Warning',
          reason: 'R',
          message: long,
          count: 1,
        })),
      },
      links: { runbook: `https://wiki.example.org/${'x'.repeat(1_900)}` },
    }),
  },
});

for (const format of chatFormats) {
  describe(`chat, ${format}`, () => {
    test('a receiver with the limits of the vendor takes every message, the largest too', async (t) => {
      const { sink, send } = await start(t, format);
      const outgoings = [
        anOutgoing(),
        largest,
        anOutgoing({ message: { kind: 'closing', data: anAlertMessage({ alert: { state: 'resolved' } }) } }),
        anOutgoing({ message: { kind: 'digest', data: aDigestMessage(500) } }),
        anOutgoing({ message: { kind: 'test', data: aTestMessage() } }),
      ];
      for (const outgoing of outgoings) {
        for (const form of ['full', 'reduced'] as const)
          assert.equal((await send({ outgoing, form })).kind, 'delivered', `${outgoing.message.kind}, ${form}`);
      }
      assert.equal(sink.arrivals.length, 2 * outgoings.length);
    });

    test('the same message is the same on every attempt', async (t) => {
      const { sink, send } = await start(t, format);
      await send();
      await send({ attempt: 2 });
      const [first, second] = sink.arrivals.map(({ path, body }) => [path, body]);
      assert.deepEqual(second, first);
    });

    test('a refusal is answered by the reduced form, and patience is kept', async (t) => {
      const { sink, send } = await start(t, format);
      sink.answerNext({ status: 400 }, { status: 429, headers: { 'retry-after': '7' } }, { status: 404 });
      const outcomes = [await send(), await send(), await send()].map((outcome) =>
        outcome.kind === 'failed' ? [outcome.next, outcome.retryAfterMs] : [outcome.kind],
      );
      assert.deepEqual(outcomes, [
        ['reduce', undefined],
        ['retry', 7_000],
        ['park', undefined],
      ]);
    });

    test('no sentence about it holds anything of the address', async (t) => {
      const { sink, send } = await start(t, format);
      sink.answerNext({ status: 500, body: `${canary} failed` });
      const outcome = await send();
      assert.ok(outcome.kind === 'failed' && !JSON.stringify(outcome).includes(canary));
    });
  });
}

for (const [format, status, isTaken] of [
  ['slack', 204, true],
  ['teams', 202, true],
  ['discord', 204, true],
  ['googlechat', 204, false],
  ['mattermost', 202, false],
  ['ntfy', 204, false],
  ['telegram', 200, false],
] as const) {
  test(`${format} that answers ${status} without a word ${isTaken ? 'took the message' : 'did not say that it took it'}`, async (t) => {
    const { sink, send } = await start(t, format);
    sink.answerNext({ status });
    const outcome = await send();
    assert.equal(outcome.kind === 'failed' ? outcome.next : outcome.kind, isTaken ? 'delivered' : 'retry');
    if (outcome.kind === 'failed') assert.ok(outcome.maybeSent);
  });
}

test('telegram says in its text how long it wants to be left alone', async (t) => {
  const { sink, send } = await start(t, 'telegram');
  const patience = (seconds: unknown): string => JSON.stringify({ ok: false, parameters: { retry_after: seconds } });
  const asked: unknown[] = [];
  for (const seconds of [31, 86_400, -1, 'soon']) {
    sink.answerNext({ status: 429, body: patience(seconds) });
    const outcome = await send();
    asked.push(outcome.kind === 'failed' && outcome.retryAfterMs);
  }
  assert.deepEqual(asked, [31_000, 3_600_000, undefined, undefined]);
});

test('googlechat: the id of the delivery keeps a repeated message from showing twice, and an alert is one thread', async (t) => {
  const { sink, send } = await start(t, 'googlechat');
  const outgoing = anOutgoing();
  await send({ outgoing });
  const [arrival] = sink.arrivals;
  const { searchParams } = new URL(arrival?.path ?? '', 'http://localhost');
  assert.deepEqual(
    [searchParams.get('key'), searchParams.get('requestId'), searchParams.get('messageReplyOption')],
    [canary, outgoing.deliveryId, 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD'],
  );
  const { thread } = JSON.parse(arrival?.body ?? '') as { thread: { threadKey: string } };
  assert.equal(thread.threadKey, outgoing.streamId);
});

test('ntfy: the end of the path is the topic, and the login goes along', async (t) => {
  const { sink, send } = await start(t, 'ntfy');
  await send();
  const [arrival] = sink.arrivals;
  assert.equal(arrival?.path, `/?auth=${canary}`);
  assert.equal((JSON.parse(arrival?.body ?? '') as { topic: string }).topic, 'backups');
});

for (const [format, path, problem] of [
  ['telegram', '/bot42:token', 'is no address of a bot: https://api.telegram.org/bot<token>/sendMessage'],
  ['ntfy', '/', 'has no topic at its end: 1 to 64 letters, digits, - and _, such as https://ntfy.sh/<topic>'],
] as const) {
  test(`${format}: nothing is sent to an address that cannot be one, and the reason is told without it`, async (t) => {
    const { sink } = await start(t, format);
    const outcome = await chat.send(anAttempt(receiverAt(format, sink.url + path)), depsOf(), never);
    assert.ok(outcome.kind === 'failed');
    assert.deepEqual(
      [outcome.next, outcome.message],
      ['invalid', `Secret monitoring/receiver: the value of url ${problem}`],
    );
    assert.equal(sink.connections, 0);
  });
}

test('each chat is called as often as it allows', () => {
  const gaps = chatFormats.map((format) => [format, chat.paceOf(receiverAt(format, '').target).gapMs]);
  assert.deepEqual(Object.fromEntries(gaps), {
    slack: 1_000,
    teams: 1_000,
    googlechat: 1_000,
    discord: 2_000,
    mattermost: 1_000,
    telegram: 3_000,
    ntfy: 1_000,
  });
});
