import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { channels, type Failed, type Outcome, type RegisteredChannel } from '@cronjob-monitor/controller/channels';
import type { DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import { FakeClock, until } from '@cronjob-monitor/shared/testing';
import { HttpSink, type HttpAnswer } from '../sinks/index.ts';
import { anAttempt, depsOf, startReceiver, targetAt, type Receiver } from './receivers.ts';

const never = new AbortController().signal;
const date = 'Sat, 21 Nov 2026 08:00:00 GMT';
const soon = 'Sat, 21 Nov 2026 08:02:00 GMT';

/** The table of alerting.md section 6 for receivers that speak HTTP. */
const table: {
  readonly answers: readonly number[];
  readonly next: Failed['next'] | 'delivered';
  readonly category?: DeliveryErrorCategory;
}[] = [
  { answers: [200, 201, 202, 204, 208, 299], next: 'delivered' },
  { answers: [300, 301, 302, 303, 304, 307, 308], next: 'park', category: 'notFound' },
  { answers: [400, 413, 422], next: 'reduce', category: 'rejected' },
  { answers: [401, 403], next: 'park', category: 'unauthorized' },
  { answers: [404, 410], next: 'park', category: 'notFound' },
  { answers: [408], next: 'retry', category: 'timeout' },
  { answers: [425, 429], next: 'retry', category: 'throttled' },
  { answers: [402, 405, 406, 409, 411, 415, 418, 421, 431, 451, 499], next: 'dead', category: 'rejected' },
  { answers: [500, 501, 502, 503, 504, 507, 520, 599], next: 'retry', category: 'serverError' },
];

/** Answers that are none, or not whole. */
const broken: { readonly says: string; readonly answer: HttpAnswer }[] = [
  { says: 'breaks the connection', answer: 'cut' },
  { says: 'breaks off within its answer', answer: 'cutInBody' },
  { says: 'answers no HTTP', answer: { raw: 'SSH-2.0-OpenSSH_9.2\r\n' } },
  { says: 'answers a head that never ends', answer: { raw: `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n` } },
  { says: 'closes without a word', answer: { raw: '' } },
];

for (const channel of channels.filter(({ type }) => type !== 'email')) {
  describe(`${channel.type}: what an answer means`, () => {
    let receiver: Receiver;
    let sink: HttpSink;
    before(async () => {
      receiver = await startReceiver(channel.type);
      assert.ok(receiver.http, 'a channel that speaks HTTP');
      sink = receiver.http;
    });
    after(() => receiver.stop());

    const sendAgainst = (answer: HttpAnswer, attempt: Parameters<typeof anAttempt>[1] = {}): Promise<Outcome> => {
      sink.answerNext(answer);
      return channel.send(anAttempt(receiver, attempt), depsOf(), never);
    };

    for (const { answers, next, category } of table) {
      for (const status of answers) {
        test(`${status}: ${next}${category === undefined ? '' : `, ${category}`}`, async () => {
          const headers = status >= 300 && status < 400 ? { location: '/elsewhere' } : {};
          const outcome = await sendAgainst({ status, headers, body: 'words of the receiver' });
          if (next === 'delivered') {
            assert.deepEqual(outcome, {
              kind: 'delivered',
              httpStatus: status,
              progress: undefined,
              unfinished: false,
            });
            return;
          }
          assert.deepEqual(outcome, {
            kind: 'failed',
            next,
            category,
            message: `It answered ${status}`,
            httpStatus: status,
            retryAfterMs: undefined,
            maybeSent: status < 400 || status >= 500,
            progress: undefined,
          });
        });
      }
    }

    for (const status of [400, 413, 422]) {
      test(`${status} to the reduced form: dead`, async () => {
        const outcome = await sendAgainst({ status }, { form: 'reduced' });
        assert.ok(outcome.kind === 'failed' && outcome.next === 'dead');
      });
    }

    for (const [says, headers, retryAfterMs] of [
      ['in seconds', { 'retry-after': '30' }, 30_000],
      ['as a date against its own clock', { 'retry-after': soon, date }, 120_000],
      ['as a date that is over', { 'retry-after': date, date: soon }, 0],
      ['for more than an hour', { 'retry-after': '86400' }, 3_600_000],
      ['in unknown words', { 'retry-after': 'tomorrow' }, undefined],
      ['negatively', { 'retry-after': '-5' }, undefined],
    ] as const) {
      test(`Retry-After ${says}`, async () => {
        for (const status of [429, 503]) {
          const outcome = await sendAgainst({ status, headers });
          assert.ok(outcome.kind === 'failed' && outcome.next === 'retry');
          assert.equal(outcome.retryAfterMs, retryAfterMs);
        }
      });
    }

    for (const { says, answer } of broken) {
      test(`a receiver that ${says}: tried again, and it may have arrived`, async () => {
        const outcome = await sendAgainst(answer);
        assert.ok(outcome.kind === 'failed');
        const { next, category, maybeSent, httpStatus } = outcome;
        assert.deepEqual(
          { next, category, maybeSent, httpStatus },
          { next: 'retry', category: 'network', maybeSent: true, httpStatus: undefined },
        );
      });
    }

    for (const answer of ['hang', 'hangInBody'] as const) {
      test(`${answer}: given up after 15 s`, async () => {
        const clock = new FakeClock();
        const arrived = sink.arrivals.length + 1;
        sink.answerNext(answer);
        let outcome: Outcome | undefined;
        const sending = channel
          .send(anAttempt(receiver), depsOf({ clock }), never)
          .then((result) => (outcome = result));
        await until(() => sink.arrivals.length === arrived);
        await clock.advance(14_999);
        assert.equal(outcome, undefined);
        await clock.advance(1);
        assertTimedOut(await sending, { maybeSent: true });
        assert.equal(clock.sleepers, 0);
      });
    }

    test('ten megabytes: the status counts', async () => {
      const body = 'x'.repeat(10 * 1024 * 1024);
      assert.equal((await sendAgainst({ body })).kind, 'delivered');
      const outcome = await sendAgainst({ status: 500, body });
      assert.ok(outcome.kind === 'failed' && outcome.category === 'serverError');
    });

    test('a redirect is not followed, neither here nor to a refused address', async () => {
      const elsewhere = await HttpSink.start();
      for (const location of [elsewhere.url, 'http://169.254.169.254/latest/meta-data/', '/again']) {
        const before = sink.arrivals.length;
        const outcome = await sendAgainst({ status: 302, headers: { location } });
        assert.ok(outcome.kind === 'failed' && outcome.next === 'park');
        assert.equal(sink.arrivals.length, before + 1);
      }
      assert.equal(elsewhere.connections, 0);
      await elsewhere.stop();
    });

    test('an abort ends it with the reason of the abort', async () => {
      const abort = new AbortController();
      const arrived = sink.arrivals.length + 1;
      sink.answerNext('hang');
      const sending = channel.send(anAttempt(receiver), depsOf(), abort.signal);
      await until(() => sink.arrivals.length === arrived);
      abort.abort(new Error('not leader any more'));
      await assert.rejects(sending, /not leader any more/);
      const before = sink.arrivals.length;
      await assert.rejects(channel.send(anAttempt(receiver), depsOf(), abort.signal), /not leader any more/);
      assert.equal(sink.arrivals.length, before);
    });
  });
}

describe('every channel', () => {
  for (const channel of channels) {
    test(`${channel.type}: a name that is never resolved is given up after 5 s`, async () => {
      const clock = new FakeClock();
      const nobody = targetAt(channel.type, { url: new URL('https://receiver.example.org') });
      const resolve = (): Promise<string[]> => new Promise(() => {});
      let outcome: Outcome | undefined;
      const sending = channel
        .send(anAttempt(nobody), depsOf({ clock, resolve }), never)
        .then((result) => (outcome = result));
      await clock.advance(4_999);
      assert.equal(outcome, undefined);
      await clock.advance(1);
      assertTimedOut(await sending, { maybeSent: false });
      assert.equal(clock.sleepers, 0);
    });

    test(`${channel.type}: an unknown name, and a closed port, are tried again`, async (t) => {
      const nobody = targetAt(channel.type, { url: new URL(`https://localhost:${await freePort(t)}`) });
      const unknown = depsOf({ resolve: () => Promise.reject(new Error('ENOTFOUND receiver.example.org')) });
      for (const deps of [unknown, depsOf({ resolve: async () => [] }), depsOf()]) {
        const outcome = await channel.send(anAttempt(nobody), deps, never);
        assert.ok(outcome.kind === 'failed');
        assert.deepEqual([outcome.next, outcome.category, outcome.maybeSent], ['retry', 'network', false]);
      }
    });

    test(`${channel.type}: a target of another type is a mistake`, async () => {
      const other = channels.find(({ type }) => type !== channel.type) as RegisteredChannel; // there are four
      const receiver = targetAt(other.type, { url: new URL('https://receiver.example.org') });
      await assert.rejects(channel.send(anAttempt(receiver), depsOf(), never), /was given/);
    });
  }
});

test('a server that never finishes its TLS handshake is given up after 5 s, and nothing was sent', async (t) => {
  const clock = new FakeClock();
  const connections: Socket[] = [];
  const server = createTcpServer((socket) => connections.push(socket.on('error', () => {})));
  await listen(t, server);
  const paging = channelOf('paging');
  const silent = targetAt('paging', { url: new URL(`https://localhost:${portOf(server)}`) });
  const sending = paging.send(anAttempt(silent), depsOf({ clock }), never);
  await until(() => connections.length === 1);
  await clock.advance(5_000);
  assertTimedOut(await sending, { maybeSent: false });
  for (const socket of connections) socket.destroy();
});

test('an answer without end is read to its limit and judged by its status', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200);
    const pour = (): void => void (response.writable && response.write('x'.repeat(16_384), pour));
    pour();
  });
  await listen(t, server);
  const endless = targetAt('webhook', { url: new URL(`http://127.0.0.1:${portOf(server)}`) });
  const outcome = await channelOf('webhook').send(anAttempt(endless), depsOf(), never);
  assert.equal(outcome.kind, 'delivered');
});

test('a certificate that no authority vouches for is a failure of TLS, told in our words', async (t) => {
  const { makeSelfSigned } = await import('../servers/index.ts');
  const sink = await HttpSink.start({ tls: await makeSelfSigned(['localhost']) });
  t.after(() => sink.stop());
  const outcome = await channelOf('paging').send(
    anAttempt(targetAt('paging', { url: new URL(sink.url) })),
    depsOf(),
    never,
  );
  assert.ok(outcome.kind === 'failed');
  assert.deepEqual(
    [outcome.next, outcome.category, outcome.message, outcome.maybeSent],
    ['retry', 'tls', 'its certificate is signed by itself and not trusted', false],
  );
  assert.equal(sink.arrivals.length, 0);
});

test('a certificate for another name is none', async (t) => {
  const { trustedCertificate } = await import('./receivers.ts');
  const { authority } = await trustedCertificate();
  const sink = await HttpSink.start({ tls: await authority.issue(['other.example.org']) });
  t.after(() => sink.stop());
  const outcome = await channelOf('paging').send(
    anAttempt(targetAt('paging', { url: new URL(sink.url) })),
    depsOf(),
    never,
  );
  assert.ok(outcome.kind === 'failed' && outcome.category === 'tls');
  assert.equal(outcome.message, 'its certificate is for another name');
});

function assertTimedOut(outcome: Outcome, { maybeSent }: { maybeSent: boolean }): void {
  assert.ok(outcome.kind === 'failed');
  assert.deepEqual([outcome.next, outcome.category, outcome.maybeSent], ['retry', 'timeout', maybeSent]);
}

function channelOf(type: RegisteredChannel['type']): RegisteredChannel {
  const channel = channels.find((one) => one.type === type);
  assert.ok(channel);
  return channel;
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

async function listen(t: TestContext, server: import('node:net').Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    (server as Partial<Server>).closeAllConnections?.();
    server.close();
  });
}

async function freePort(t: TestContext): Promise<number> {
  const server = createTcpServer();
  await listen(t, server);
  const port = portOf(server);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
