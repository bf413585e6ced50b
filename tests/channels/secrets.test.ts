import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  channels,
  createAddressRules,
  type RegisteredChannel,
  type Secrets,
} from '@cronjob-monitor/controller/channels';
import { FakeClock, until } from '@cronjob-monitor/shared/testing';
import { makeSelfSigned } from '../servers/index.ts';
import { HttpSink, SmtpSink, type HttpAnswer, type SmtpScript } from '../sinks/index.ts';
import {
  anAttempt,
  canary,
  depsOf,
  overSmtp,
  signingKey,
  startReceiver,
  targetAt,
  type Receiver,
} from './receivers.ts';

const never = new AbortController().signal;
/** What no word of ours may hold: values of Secrets, also encoded, what the receiver said, where it is. */
const forbidden = [
  canary,
  encodeURIComponent(canary),
  Buffer.from(canary).toString('base64').slice(0, 16),
  signingKey,
  'words of the receiver',
  'words of the mail server',
  'localhost',
  '127.0.0.1',
];

const httpAnswers: HttpAnswer[] = [
  ...[200, 302, 400, 401, 403, 404, 410, 413, 418, 429, 500, 503].map((status) => ({
    status,
    headers: { location: `https://elsewhere.example.org/?token=${canary}` },
    body: `words of the receiver ${canary}`,
  })),
  'cut',
  'cutInBody',
  { raw: `${canary}\r\n\r\n` },
];
const mailScripts: SmtpScript[] = [
  {},
  { greeting: 554 },
  { login: 535 },
  { sender: 550 },
  { recipients: { 'ops@example.org': 550 } },
  { message: 554 },
];

for (const channel of channels) {
  describe(`${channel.type}: nothing of a Secret is said`, () => {
    test('whatever the receiver answers', async (t) => {
      const said = listenToOutput(t);
      const receiver = await startReceiver(channel.type);
      t.after(() => receiver.stop());
      for (const answer of receiver.http ? httpAnswers : []) {
        receiver.http?.answerNext(answer);
        said.push(await outcomeOf(channel, receiver));
      }
      for (const script of receiver.smtp ? mailScripts : []) {
        if (receiver.smtp) receiver.smtp.script = script;
        said.push(await outcomeOf(channel, receiver));
      }
      assertSilent(said);
    });

    test('when no server answers, when names and addresses are wrong, when TLS fails', async (t) => {
      const said = listenToOutput(t);
      const nobody = targetAt(channel.type, { url: new URL('https://127.0.0.1:1') });
      const unknown = depsOf({ resolve: () => Promise.reject(new Error(`unknown host with ${canary}`)) });
      const strict = depsOf({ addresses: createAddressRules({ deny: [], allow: [], pagingEndpoints: [] }) });
      said.push(
        await outcomeOf(channel, nobody),
        await outcomeOf(channel, targetAt(channel.type, { url: new URL('https://receiver.example.org') }), unknown),
        await outcomeOf(channel, nobody, strict),
        JSON.stringify(await channel.findProblem(nobody, strict, never)),
      );
      const tls = await makeSelfSigned(['localhost']);
      const [http, smtp] = [await HttpSink.start({ tls }), await SmtpSink.start({ tls })];
      t.after(() => Promise.all([http.stop(), smtp.stop()]));
      said.push(
        await outcomeOf(
          channel,
          channel.type === 'email' ? overSmtp(smtp) : targetAt(channel.type, { url: new URL(http.url) }),
        ),
      );
      assertSilent(said);
    });

    test('when it is aborted or its time is over', async (t) => {
      const said = listenToOutput(t);
      const receiver = await startReceiver(channel.type);
      t.after(() => receiver.stop());
      receiver.http?.answerNext('hang', 'hang');
      if (receiver.smtp) receiver.smtp.script = { message: 'hang' };
      const clock = new FakeClock();
      const late = outcomeOf(channel, receiver, depsOf({ clock }));
      await until(() => receiver.arrivals() === 1);
      await clock.advance(15_000);
      said.push(await late);
      const abort = new AbortController();
      const aborted = channel.send(anAttempt(receiver), depsOf(), abort.signal);
      await until(() => receiver.arrivals() === 2);
      abort.abort(new Error('ended'));
      said.push(await aborted.then(JSON.stringify, describeError));
      assertSilent(said);
    });

    test('when a Secret is missing, empty or not what it should be', async (t) => {
      const said = listenToOutput(t);
      const { target } = targetAt(channel.type, { url: new URL('https://receiver.example.org') });
      const values = [
        undefined,
        {},
        allKeys(''),
        allKeys(`\0${canary}\r\n`),
        { ...allKeys(`x ${canary} y`), host: 'mail', port: '0' },
      ];
      for (const content of values) {
        const secrets: Secrets = () => content && new Map(Object.entries(content));
        const outcome = await channel.send(anAttempt({ target, secrets }), depsOf(), never);
        assert.ok(outcome.kind === 'failed' && outcome.next === 'invalid' && outcome.category === 'secret');
        said.push(
          JSON.stringify(outcome),
          JSON.stringify((await channel.findProblem({ target, secrets }, depsOf(), never)) ?? 'no problem'),
        );
      }
      assertSilent(said);
    });

    test('in what goes over the wire there are no credentials but in their place', async () => {
      const { target } = targetAt(channel.type, { url: new URL('https://receiver.example.org') });
      const { outgoing } = anAttempt({ target, secrets: () => undefined });
      assert.doesNotMatch(JSON.stringify(channel.payloadOf(outgoing, target, 'full')), new RegExp(canary)); // of the test's own
    });
  });
}

test('a header of the spec that cannot be sent is named without its value', async () => {
  const channel = channels.find(({ type }) => type === 'webhook');
  const { target, secrets } = targetAt('webhook', { url: new URL('https://receiver.example.org') });
  assert.ok(channel && target.type === 'webhook');
  for (const headers of [
    { 'X-Token': `${canary}\r\nx: y` },
    { 'X-Token': `${canary}\u20ac` },
    { Host: canary },
    { 'Webhook-Id': canary },
    { 'a b': canary },
  ]) {
    const wrong = { ...target, webhook: { ...target.webhook, headers } };
    const outcome = await channel.send(anAttempt({ target: wrong, secrets }), depsOf(), never);
    assert.ok(outcome.kind === 'failed' && outcome.next === 'invalid' && outcome.category === 'rejected');
    assertSilent([JSON.stringify(outcome)]);
  }
});

async function outcomeOf(
  channel: RegisteredChannel,
  receiver: Pick<Receiver, 'target' | 'secrets'>,
  deps = depsOf(),
): Promise<string> {
  return channel.send(anAttempt(receiver), deps, never).then(JSON.stringify, describeError);
}

/** All of an error that a log might take. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.stack, JSON.stringify(error), error.cause === undefined ? '' : describeError(error.cause)].join('\n');
}

function assertSilent(said: readonly string[]): void {
  for (const words of said) {
    for (const word of forbidden) assert.ok(!words.includes(word), `${word} in: ${words.slice(0, 300)}`);
  }
}

function allKeys(value: string): Record<string, string> {
  return Object.fromEntries(
    ['url', 'routing-key', 'signing-key', 'host', 'port', 'username', 'password'].map((key) => [key, value]),
  );
}

/** Collects what the process writes and warns while the test runs. */
function listenToOutput(t: { after(fn: () => void): void }): string[] {
  const said: string[] = [];
  const { stdout, stderr } = process;
  const writers = [stdout, stderr].map((stream) => ({ stream, write: stream.write.bind(stream) }));
  for (const { stream, write } of writers) {
    stream.write = ((...args: Parameters<typeof write>) => {
      if (!String(args[0]).startsWith('\u0000') && typeof args[0] === 'string') said.push(args[0]);
      return write(...args);
    }) as typeof stream.write;
  }
  const onWarning = (warning: Error): number => said.push(describeError(warning));
  process.on('warning', onWarning);
  t.after(() => {
    for (const { stream, write } of writers) stream.write = write;
    process.off('warning', onWarning);
  });
  return said;
}
