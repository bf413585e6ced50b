import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { channels, getChannel, type Attempt, type ChannelTarget } from '@cronjob-monitor/controller/channels';
import type { ChannelType } from '@cronjob-monitor/shared/contract';
import type { Message, Outgoing } from '@cronjob-monitor/shared/domain';
import { decodeChannelSpec } from '@cronjob-monitor/shared/kube';
import {
  anAlertMessage,
  anOutgoing,
  aTestMessage,
  FakeClock,
  until,
  wholeChannelSpecs,
} from '@cronjob-monitor/shared/testing';
import { incidentsOf, isSigned, parseMail, startWebhookSink } from '../sinks/index.ts';
import { everyKind, monstrous } from './messages.ts';
import { anAttempt, canary, depsOf, signingKey, startReceiver, targetAt, type Receiver } from './receivers.ts';

const never = new AbortController().signal;

async function start(t: TestContext, type: ChannelType): Promise<Receiver> {
  const receiver = await startReceiver(type);
  t.after(() => receiver.stop());
  return receiver;
}

async function deliver(receiver: Receiver, outgoing: Outgoing, changes: Partial<Attempt> = {}): Promise<void> {
  const outcome = await getChannel(receiver.type).send(anAttempt(receiver, { outgoing, ...changes }), depsOf(), never);
  assert.equal(outcome.kind, 'delivered', JSON.stringify(outcome));
}

for (const { type } of channels) {
  describe(`${type}: what a real receiver takes`, () => {
    test('a message of every kind, in both forms', async (t) => {
      const receiver = await start(t, type);
      for (const form of ['full', 'reduced'] as const) {
        for (const { message } of everyKind) await deliver(receiver, anOutgoing({ message }), { form });
      }
      assert.ok(receiver.arrivals() >= 2 * everyKind.length);
    });

    test('messages as long and odd as strangers make them', async (t) => {
      const receiver = await start(t, type);
      for (const outgoing of monstrous()) {
        await deliver(receiver, outgoing);
        await deliver(receiver, outgoing, { form: 'reduced' });
      }
      for (const wire of receiver.wire()) {
        assert.ok(Buffer.byteLength(wire) <= (type === 'email' ? 400_000 : 65_536), `${Buffer.byteLength(wire)} bytes`);
        assert.doesNotMatch(wire, /\\u001b|\u202e|\\u202e|=1B|=E2=80=AE/);
      }
    });

    test('the same bytes on every attempt', async (t) => {
      const receiver = await start(t, type);
      receiver.http?.answerNext({ status: 500 });
      if (receiver.smtp) receiver.smtp.script = { message: 451 };
      const first = await getChannel(type).send(anAttempt(receiver), depsOf(), never);
      assert.ok(first.kind === 'failed' && first.next === 'retry');
      if (receiver.smtp) receiver.smtp.script = {};
      await deliver(receiver, anOutgoing(), { attempt: 2 });
      const [one, two] = receiver.wire();
      assert.equal(two, one);
    });
  });
}

for (const channel of channels) {
  const { type } = channel;
  test(`${type}: the decoded spec of an AlertChannel fits as it is, templates and all`, () => {
    const { spec, problems } = decodeChannelSpec({ spec: wholeChannelSpecs[type] });
    assert.deepEqual(problems, []);
    assert.ok(spec?.type === type);
    const payload = JSON.stringify(channel.payloadOf(anOutgoing(), spec, 'full'));
    assert.ok(payload.length > 50 && !payload.includes('{{'));
  });
}

test('every channel says how fast it may be called', () => {
  const paces = Object.fromEntries(
    channels.map((channel) => {
      const { type } = channel;
      const { target } = targetAt(type, { url: new URL('https://receiver.example.org') });
      const { inFlight, gapMs } = channel.paceOf(target);
      return [type, [inFlight, gapMs]];
    }),
  );
  assert.deepEqual(paces, { chat: [1, 1_000], paging: [2, 0], email: [2, 0], webhook: [2, 0] });
});

describe('paging: incidents', () => {
  const opening = anOutgoing();
  const closing = anOutgoing({
    deliveryId: 'another',
    message: { kind: 'closing', data: anAlertMessage({ alert: { state: 'resolved' } }) },
  });

  test('an alert is one incident: reminders add to it, the closing closes it', async (t) => {
    const receiver = await start(t, 'paging');
    await deliver(receiver, opening);
    await deliver(receiver, anOutgoing({ message: { kind: 'reminder', data: anAlertMessage() } }));
    const key = `cjm-${opening.streamId}`;
    const open = incidentsOf(receiver.http?.arrivals ?? []);
    assert.deepEqual(
      open.map(({ key, isOpen, repeats }) => [key, isOpen, repeats]),
      [[key, true, 1]],
    );
    await deliver(receiver, closing);
    assert.deepEqual(
      incidentsOf(receiver.http?.arrivals ?? []).map(({ isOpen }) => isOpen),
      [false],
    );
  });

  test('a test opens an incident of its own and closes it at once', async (t) => {
    const receiver = await start(t, 'paging');
    await deliver(receiver, anOutgoing({ streamId: 'test-1', message: { kind: 'test', data: aTestMessage() } }));
    const [incident, ...others] = incidentsOf(receiver.http?.arrivals ?? []);
    assert.deepEqual(
      [incident?.key, incident?.severity, incident?.isOpen, others.length],
      ['cjm-test-1', 'info', false, 0],
    );
  });

  test('a test whose trigger is refused sends no resolve, one whose resolve is refused has failed', async (t) => {
    const receiver = await start(t, 'paging');
    const outgoing = anOutgoing({ message: { kind: 'test', data: aTestMessage() } });
    for (const [answers, arrivals] of [
      [[{ status: 403 }], 1],
      [[{ status: 202 }, { status: 500 }], 2],
    ] as const) {
      const before = receiver.arrivals();
      receiver.http?.answerNext(...answers);
      const outcome = await getChannel('paging').send(anAttempt(receiver, { outgoing }), depsOf(), never);
      assert.deepEqual([outcome.kind, receiver.arrivals() - before], ['failed', arrivals]);
    }
  });

  test('both requests of a test share one time limit', async (t) => {
    const receiver = await start(t, 'paging');
    const clock = new FakeClock();
    receiver.http?.answerAlways((arrival) => (arrival.body.includes('"trigger"') ? { status: 202 } : 'hang'));
    const outgoing = anOutgoing({ message: { kind: 'test', data: aTestMessage() } });
    const sending = getChannel('paging').send(anAttempt(receiver, { outgoing }), depsOf({ clock }), never);
    await until(() => receiver.arrivals() === 1);
    await clock.advance(4_000);
    await until(() => receiver.arrivals() === 2);
    await clock.advance(11_000);
    const outcome = await sending;
    assert.ok(outcome.kind === 'failed' && outcome.category === 'timeout' && outcome.next === 'retry');
    assert.equal(clock.sleepers, 0);
  });

  test('the routing key of the Secret goes into the body, and nowhere else', async (t) => {
    const receiver = await start(t, 'paging');
    await deliver(receiver, opening);
    const [arrival] = receiver.http?.arrivals ?? [];
    assert.equal((JSON.parse(arrival?.body ?? '') as { routing_key: string }).routing_key, `${canary}-routing-key`);
    assert.doesNotMatch(JSON.stringify([arrival?.headers, arrival?.path]), new RegExp(canary)); // of the test's own
  });
});

describe('webhook: requests', () => {
  test('id and key stay the same, number and time are those of the attempt', async (t) => {
    const receiver = await start(t, 'webhook');
    const clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
    const channel = getChannel('webhook');
    await channel.send(anAttempt(receiver), depsOf({ clock }), never);
    clock.stepWall(61_500);
    await channel.send(anAttempt(receiver, { attempt: 2 }), depsOf({ clock }), never);
    const { deliveryId } = anOutgoing();
    const seen = (receiver.http?.arrivals ?? []).map(({ headers }) => [
      headers['webhook-id'],
      headers['idempotency-key'],
      headers['x-monitor-delivery-attempt'],
      headers['webhook-timestamp'],
      headers['content-type'],
    ]);
    const began = Date.UTC(2026, 10, 21, 8) / 1_000;
    assert.deepEqual(seen, [
      [deliveryId, deliveryId, '1', String(began), 'application/json'],
      [deliveryId, deliveryId, '2', String(began + 61), 'application/json'],
    ]);
    assert.ok(
      receiver.http?.arrivals.every(({ answered }) => answered === 200),
      'signed with the key of the receiver',
    );
  });

  test('two keys make two signatures: receivers with either key take it', async (t) => {
    const receiver = await start(t, 'webhook');
    const other = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    const values = new Map(receiver.secrets({ namespace: '', name: '' }));
    values.set('signing-key', `${other} ${signingKey}\n`);
    await deliver(receiver, anOutgoing(), { secrets: () => values });
    const [arrival] = receiver.http?.arrivals ?? [];
    assert.ok(arrival && isSigned(arrival, signingKey) && isSigned(arrival, other));
    assert.equal(String(arrival.headers['webhook-signature']).split(' ').length, 2);
  });

  test('without a key it is unsigned; method, headers and path are those of the spec and the Secret', async (t) => {
    const receiver = await start(t, 'webhook');
    receiver.http?.answerAlways({});
    for (const method of ['POST', 'PUT', 'PATCH'] as const) {
      const target = withWebhook(receiver.target, {
        method,
        signingSecretRef: undefined,
        headers: { 'Content-Type': 'application/vnd.events+json', 'Idempotency-Key': 'mine', 'X-Team': 'data' },
      });
      await deliver(receiver, anOutgoing(), { target });
      const arrival = receiver.http?.arrivals.at(-1);
      assert.ok(arrival);
      const { headers, path } = arrival;
      assert.deepEqual(
        [arrival.method, headers['content-type'], headers['x-team'], headers['webhook-signature']],
        [method, 'application/vnd.events+json', 'data', undefined],
      );
      assert.equal(headers['idempotency-key'], anOutgoing().deliveryId);
      assert.equal(path, `/services/${canary}?token=${canary}`);
    }
  });

  test('a receiver with another key refuses: the channel waits for an operator', async (t) => {
    const sink = await startWebhookSink({ signingKey: `whsec_${Buffer.alloc(32, 1).toString('base64')}` });
    t.after(() => sink.stop());
    const receiver = await start(t, 'webhook');
    const values = new Map(receiver.secrets({ namespace: '', name: '' })).set('url', sink.url);
    const attempt = anAttempt(receiver, { secrets: () => values });
    const outcome = await getChannel('webhook').send(attempt, depsOf(), never);
    assert.ok(outcome.kind === 'failed' && outcome.next === 'park' && outcome.category === 'unauthorized');
  });
});

describe('email: threads', () => {
  test('opening and closing of an alert are one thread, and the subject of the closing says that it is over', async (t) => {
    const receiver = await start(t, 'email');
    const opening = anOutgoing();
    const message: Message = {
      kind: 'closing',
      data: anAlertMessage({ alert: { state: 'resolved', title: 'RESOLVED' } }),
    };
    const closing = anOutgoing({ deliveryId: 'closing-1', message, heading: opening.heading });
    await deliver(receiver, opening);
    await deliver(receiver, closing);
    const [first, second] = (receiver.smtp?.arrivals ?? []).map(({ raw }) => parseMail(raw));
    assert.equal(first?.header('subject'), '[WARNING] prod/nightly: job failed');
    assert.equal(second?.header('subject'), 'RESOLVED [WARNING] prod/nightly: job failed');
    const root = `<${opening.streamId}@example.org>`;
    for (const mail of [first, second]) {
      assert.deepEqual([mail?.header('in-reply-to'), mail?.header('references')], [root, root]);
    }
    assert.deepEqual(
      [first?.header('message-id'), second?.header('message-id')],
      [`<${opening.deliveryId}@example.org>`, '<closing-1@example.org>'],
    );
    assert.match(first?.text ?? '', /^ACTIVE\r\n/);
    assert.match(second?.text ?? '', /^RESOLVED\r\n/);
  });

  test('plain text first, HTML second, and the headers of machines', async (t) => {
    const receiver = await start(t, 'email');
    await deliver(receiver, anOutgoing());
    const mail = parseMail(receiver.wire()[0] ?? '');
    assert.deepEqual(mail.parts, ['text/plain', 'text/html']);
    const names = [
      'auto-submitted',
      'list-id',
      'x-monitor-kind',
      'x-monitor-alert',
      'to',
      'from',
      'date',
      'list-unsubscribe',
    ];
    assert.deepEqual(
      names.map((name) => mail.header(name)),
      [
        'auto-generated',
        '<backups.prod.cronjob-monitor>',
        'firing',
        anOutgoing().streamId,
        'ops@example.org, team@example.org',
        'monitor@example.org',
        'Sat, 21 Nov 2026 01:02:43 +0000',
        undefined,
      ],
    );
    assert.match(mail.text ?? '', /Exit code: +137/);
    assert.match(mail.html ?? '', /<pre[^>]*>loading 3 files\r?\nKilled<\/pre>/);
  });
});

function withWebhook(
  target: ChannelTarget,
  changes: Partial<Extract<ChannelTarget, { type: 'webhook' }>['webhook']>,
): ChannelTarget {
  assert.ok(target.type === 'webhook');
  return { ...target, webhook: { ...target.webhook, ...changes } };
}
