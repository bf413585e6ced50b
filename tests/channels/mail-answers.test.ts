import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import {
  getChannel,
  type Attempt,
  type Failed,
  type Outcome,
  type Progress,
} from '@cronjob-monitor/controller/channels';
import type { DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import { FakeClock, until } from '@cronjob-monitor/shared/testing';
import { makeSelfSigned } from '../servers/index.ts';
import { SmtpSink, type SmtpScript, type SmtpSinkOptions } from '../sinks/index.ts';
import { anAttempt, depsOf, login, overSmtp, trustedCertificate, type Receiver } from './receivers.ts';

const never = new AbortController().signal;
const channel = getChannel('email');
const ops = 'ops@example.org';
const team = 'team@example.org';

async function startMailServer(
  t: TestContext,
  options: SmtpSinkOptions = {},
  content: Readonly<Record<string, string>> = {},
): Promise<Receiver & { readonly smtp: SmtpSink }> {
  const { localhost } = await trustedCertificate();
  const sink = await SmtpSink.start({ tls: localhost, login, ...options });
  t.after(() => sink.stop());
  return { ...overSmtp(sink, content), smtp: sink };
}

/** The same target with other words about TLS. */
function opportunistic({ target }: Receiver): Pick<Attempt, 'target'> {
  assert.ok(target.type === 'email');
  return { target: { ...target, email: { ...target.email, tls: 'opportunistic' } } };
}

/** The table of alerting.md section 6 in the words of SMTP. */
const table: {
  readonly says: string;
  readonly script: SmtpScript;
  readonly next: Failed['next'];
  readonly category: DeliveryErrorCategory;
  readonly refused?: readonly string[];
}[] = [
  { says: 'greets with 421', script: { greeting: 421 }, next: 'retry', category: 'smtp' },
  { says: 'greets with 554', script: { greeting: 554 }, next: 'retry', category: 'smtp' },
  { says: 'refuses the login with 535', script: { login: 535 }, next: 'park', category: 'unauthorized' },
  { says: 'refuses the login with 534', script: { login: 534 }, next: 'park', category: 'unauthorized' },
  { says: 'cannot check the login now (454)', script: { login: 454 }, next: 'retry', category: 'smtp' },
  { says: 'asks for a login at the sender', script: { sender: 530 }, next: 'park', category: 'unauthorized' },
  { says: 'refuses the sender with 550', script: { sender: 550 }, next: 'dead', category: 'smtp' },
  { says: 'finds the mail too large at the sender', script: { sender: 552 }, next: 'reduce', category: 'smtp' },
  { says: 'takes no sender now (451)', script: { sender: 451 }, next: 'retry', category: 'smtp' },
  {
    says: 'refuses all recipients for good',
    script: { recipients: { [ops]: 550, [team]: 553 } },
    next: 'dead',
    category: 'smtp',
    refused: [ops, team],
  },
  {
    says: 'refuses all recipients, one of them for now',
    script: { recipients: { [ops]: 550, [team]: 450 } },
    next: 'retry',
    category: 'smtp',
    refused: [ops],
  },
  { says: 'refuses the message with 554', script: { message: 554 }, next: 'reduce', category: 'smtp' },
  { says: 'finds the message too large', script: { message: 552 }, next: 'reduce', category: 'smtp' },
  { says: 'has no room for the message now (452)', script: { message: 452 }, next: 'retry', category: 'smtp' },
];

describe('email: what a reply means', () => {
  for (const { says, script, next, category, refused } of table) {
    test(`a server that ${says}: ${next}, ${category}`, async (t) => {
      const receiver = await startMailServer(t);
      receiver.smtp.script = script;
      const outcome = await channel.send(anAttempt(receiver), depsOf(), never);
      assert.ok(outcome.kind === 'failed');
      assert.deepEqual([outcome.next, outcome.category, outcome.maybeSent], [next, category, false]);
      assert.deepEqual(outcome.progress?.refused, refused);
      assert.doesNotMatch(outcome.message, /words of the mail server|example\.org/);
    });
  }

  test('a server that refuses even the reduced message: dead', async (t) => {
    const receiver = await startMailServer(t);
    receiver.smtp.script = { message: 554 };
    const outcome = await channel.send(anAttempt(receiver, { form: 'reduced' }), depsOf(), never);
    assert.ok(outcome.kind === 'failed' && outcome.next === 'dead');
  });

  test('a mail that is taken is delivered, once, over TLS, by the user of the Secret', async (t) => {
    const receiver = await startMailServer(t);
    const outcome = await channel.send(anAttempt(receiver), depsOf(), never);
    assert.deepEqual(outcome, {
      kind: 'delivered',
      httpStatus: undefined,
      progress: { accepted: [ops, team], refused: [] },
      unfinished: false,
    });
    const [{ from, to, user, isEncrypted } = {}, ...others] = receiver.smtp.arrivals;
    assert.deepEqual(
      { from, to, user, isEncrypted },
      { from: 'monitor@example.org', to: [ops, team], user: login.user, isEncrypted: true },
    );
    assert.equal(others.length, 0);
  });
});

describe('email: some recipients and not others', () => {
  test('who asks for later is tried alone, who refuses is not tried again', async (t) => {
    const receiver = await startMailServer(t);
    receiver.smtp.script = { recipients: { [team]: 451 } };
    const first = await channel.send(anAttempt(receiver), depsOf(), never);
    assert.ok(first.kind === 'delivered' && first.unfinished);
    assert.deepEqual(first.progress, { accepted: [ops], refused: [] });

    const second = await channel.send(anAttempt(receiver, { attempt: 2, progress: first.progress }), depsOf(), never);
    assert.ok(second.kind === 'failed' && second.next === 'retry');
    assert.deepEqual(second.progress, { accepted: [ops], refused: [] });

    receiver.smtp.script = {};
    const third = await channel.send(anAttempt(receiver, { attempt: 3, progress: second.progress }), depsOf(), never);
    assert.ok(third.kind === 'delivered' && !third.unfinished);
    assert.deepEqual(third.progress, { accepted: [ops, team], refused: [] });
    assert.deepEqual(
      receiver.smtp.arrivals.map(({ to }) => to),
      [[ops], [team]],
    );
  });

  test('a recipient refused for good beside one that is told: delivered and finished', async (t) => {
    const receiver = await startMailServer(t);
    receiver.smtp.script = { recipients: { [team]: 550 } };
    const outcome = await channel.send(anAttempt(receiver), depsOf(), never);
    assert.ok(outcome.kind === 'delivered' && !outcome.unfinished);
    assert.deepEqual(outcome.progress, { accepted: [ops], refused: [team] });
  });

  test('the last one refuses for good after others were told: delivered', async (t) => {
    const receiver = await startMailServer(t);
    receiver.smtp.script = { recipients: { [team]: 550 } };
    const progress: Progress = { accepted: [ops], refused: [] };
    const outcome = await channel.send(anAttempt(receiver, { progress }), depsOf(), never);
    assert.deepEqual([outcome.kind, outcome.progress], ['delivered', { accepted: [ops], refused: [team] }]);
  });

  test('no recipient is left: delivered if one was told, else dead; no server is asked', async (t) => {
    const receiver = await startMailServer(t);
    const sendWith = (progress: Progress): Promise<Outcome> =>
      channel.send(anAttempt(receiver, { progress }), depsOf(), never);
    assert.equal((await sendWith({ accepted: [ops], refused: [team] })).kind, 'delivered');
    const dead = await sendWith({ accepted: [], refused: [ops, team] });
    assert.ok(dead.kind === 'failed' && dead.next === 'dead');
    assert.equal(receiver.smtp.arrivals.length + receiver.smtp.logins.length, 0);
  });
});

describe('email: silence', () => {
  for (const [says, script, maybeSent] of [
    ['at the greeting', { greeting: 'hang' }, false],
    ['at the login', { login: 'hang' }, false],
    ['at a recipient', { recipients: { [ops]: 'hang' } }, false],
    ['after the message', { message: 'hang' }, true],
  ] as const) {
    test(`${says}: given up after 15 s`, async (t) => {
      const clock = new FakeClock();
      const receiver = await startMailServer(t);
      let reached = false;
      receiver.smtp.script = new Proxy(script, {
        get: (given, stage) => {
          const reply = given[stage as keyof typeof given] as unknown;
          reached ||= reply !== undefined;
          return reply;
        },
      });
      let outcome: Outcome | undefined;
      const sending = channel.send(anAttempt(receiver), depsOf({ clock }), never).then((result) => (outcome = result));
      await until(() => reached);
      await clock.advance(14_999);
      assert.equal(outcome, undefined);
      await clock.advance(1);
      const ended = await sending;
      assert.ok(ended.kind === 'failed');
      assert.deepEqual([ended.next, ended.category, ended.maybeSent], ['retry', 'timeout', maybeSent]);
      assert.equal(clock.sleepers, 0);
    });
  }

  test('a server that breaks off after the message: it may have been sent', async (t) => {
    const receiver = await startMailServer(t);
    receiver.smtp.script = { message: 'hang' };
    const sending = channel.send(anAttempt(receiver), depsOf(), never);
    await until(() => receiver.smtp.arrivals.length === 1);
    receiver.smtp.cutConnections();
    const outcome = await sending;
    assert.ok(outcome.kind === 'failed');
    assert.deepEqual([outcome.next, outcome.category, outcome.maybeSent], ['retry', 'network', true]);
  });

  test('an abort ends it with the reason of the abort', async (t) => {
    const receiver = await startMailServer(t);
    receiver.smtp.script = { message: 'hang' };
    const abort = new AbortController();
    const sending = channel.send(anAttempt(receiver), depsOf(), abort.signal);
    await until(() => receiver.smtp.arrivals.length === 1);
    abort.abort(new Error('not leader any more'));
    await assert.rejects(sending, /not leader any more/);
  });

  test('a server that speaks something else is tried again', async (t) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      socket.write('SSH-2.0-OpenSSH_9.2\r\n');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const receiver = await startMailServer(t, {}, { port: String((server.address() as AddressInfo).port) });
    const outcome = await channel.send(anAttempt(receiver), depsOf(), never);
    assert.ok(outcome.kind === 'failed');
    assert.deepEqual([outcome.next, outcome.category, outcome.maybeSent], ['retry', 'network', false]);
  });
});

describe('email: encryption', () => {
  test('without STARTTLS nothing is sent, and no login is tried', async (t) => {
    const receiver = await startMailServer(t, { tls: undefined, loginOverPlain: true });
    const outcome = await channel.send(anAttempt(receiver), depsOf(), never);
    assert.ok(outcome.kind === 'failed' && outcome.next === 'retry' && outcome.category === 'tls');
    assert.deepEqual([receiver.smtp.arrivals.length, receiver.smtp.logins.length], [0, 0]);
  });

  test('opportunistic: plain text is allowed, and then no login is tried', async (t) => {
    const receiver = await startMailServer(t, { tls: undefined, loginOverPlain: true });
    const outcome = await channel.send(anAttempt(receiver, opportunistic(receiver)), depsOf(), never);
    assert.equal(outcome.kind, 'delivered');
    assert.deepEqual(receiver.smtp.logins, []);
    assert.equal(receiver.smtp.arrivals[0]?.isEncrypted, false);
  });

  test('opportunistic: what can be encrypted is, and then the user logs in', async (t) => {
    const receiver = await startMailServer(t);
    const outcome = await channel.send(anAttempt(receiver, opportunistic(receiver)), depsOf(), never);
    assert.equal(outcome.kind, 'delivered');
    assert.deepEqual(
      receiver.smtp.logins.map(({ isEncrypted }) => isEncrypted),
      [true],
    );
  });

  for (const wish of ['required', 'opportunistic'] as const) {
    test(`${wish}: a certificate that no authority vouches for ends it before anything is said`, async (t) => {
      const receiver = await startMailServer(t, { tls: await makeSelfSigned(['localhost']) });
      const attempt = anAttempt(receiver, wish === 'opportunistic' ? opportunistic(receiver) : {});
      const outcome = await channel.send(attempt, depsOf(), never);
      assert.ok(outcome.kind === 'failed' && outcome.category === 'tls' && outcome.next === 'retry');
      assert.deepEqual([receiver.smtp.arrivals.length, receiver.smtp.logins.length], [0, 0]);
    });
  }

  test('without a user no login is tried', async (t) => {
    const receiver = await startMailServer(t, {}, { username: '', password: '' });
    assert.equal((await channel.send(anAttempt(receiver), depsOf(), never)).kind, 'delivered');
    assert.deepEqual(receiver.smtp.logins, []);
  });

  test('a server that offers no login that we know waits for an operator to mend it', async (t) => {
    const receiver = await startMailServer(t, { login: undefined });
    const outcome = await channel.send(anAttempt(receiver), depsOf(), never);
    assert.ok(outcome.kind === 'failed');
    assert.deepEqual([outcome.next, outcome.category], ['park', 'unauthorized']);
  });
});
