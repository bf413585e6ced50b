import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { getChannel, type Outcome, type SendDeps } from '@cronjob-monitor/controller/channels';
import { HttpSink } from '../sinks/index.ts';
import { anAttempt, depsOf, targetAt, trustedCertificate } from './receivers.ts';

const never = new AbortController().signal;

async function startSink(t: TestContext, options: Parameters<typeof HttpSink.start>[0] = {}): Promise<HttpSink> {
  const sink = await HttpSink.start(options);
  t.after(() => sink.stop());
  return sink;
}

const send = (url: string, deps: SendDeps): Promise<Outcome> =>
  getChannel('webhook').send(anAttempt(targetAt('webhook', { url: new URL(url) })), deps, never);

async function assertDelivered(url: string, deps: SendDeps): Promise<void> {
  assert.equal((await send(url, deps)).kind, 'delivered');
}

test('messages to one receiver, one after the other, go over one connection, with TLS too', async (t) => {
  const { localhost } = await trustedCertificate();
  const [plain, secure] = [await startSink(t), await startSink(t, { tls: localhost })];
  const deps = depsOf();
  for (let times = 0; times < 3; times++) {
    await assertDelivered(`http://localhost:${plain.port}`, deps);
    await assertDelivered(`https://localhost:${secure.port}`, deps);
  }
  assert.deepEqual([plain.connections, secure.connections], [1, 1]);
});

test('a kept connection carries nothing once the name has another address, and nothing goes where no message may go', async (t) => {
  const sink = await startSink(t);
  const answers = [['127.0.0.1'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.2', '127.0.0.1'], ['169.254.169.254']];
  const deps = depsOf({ resolve: async () => answers.shift() ?? [] });
  const url = `http://receiver.example.org:${sink.port}`;
  await assertDelivered(url, deps);
  await assertDelivered(url, deps);
  assert.equal(sink.connections, 2, 'opened for the addresses that it has now');
  await assertDelivered(url, deps);
  assert.equal(sink.connections, 2, 'the same addresses in another order');
  const refused = await send(url, deps);
  assert.ok(refused.kind === 'failed');
  assert.deepEqual([refused.category, sink.arrivals.length], ['addressRefused', 3]);
});

test('names of one address share no connection, since a server tells them apart by what was asked first', async (t) => {
  const sink = await startSink(t);
  const deps = depsOf();
  await assertDelivered(`http://a.example.org:${sink.port}`, deps);
  await assertDelivered(`http://b.example.org:${sink.port}`, deps);
  assert.equal(sink.connections, 2);
});

test('a connection whose answer was not read to its end is not used again', async (t) => {
  const sink = await startSink(t);
  const deps = depsOf();
  sink.answerNext({ body: 'x'.repeat(200_000) });
  await assertDelivered(sink.url, deps);
  await assertDelivered(sink.url, deps);
  assert.equal(sink.connections, 2);
});

test('a receiver that ends a connection after its answer gets the next message over another one', async (t) => {
  let connections = 0;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume().on('end', () => response.end(() => request.socket.end()));
  };
  const server = createServer(onRequest).on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const deps = depsOf();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await assertDelivered(url, deps);
  // Its end has arrived when another message has made its way.
  await assertDelivered((await startSink(t)).url, deps);
  await assertDelivered(url, deps);
  assert.equal(connections, 2);
});

test('a kept connection that breaks may have carried the message: it is sent once, and may be tried again', async (t) => {
  const sink = await startSink(t);
  const deps = depsOf();
  await assertDelivered(sink.url, deps);
  sink.answerNext('cut');
  const outcome = await send(sink.url, deps);
  assert.ok(outcome.kind === 'failed');
  assert.deepEqual([outcome.next, outcome.category, outcome.maybeSent], ['retry', 'network', true]);
  assert.deepEqual([sink.arrivals.length, sink.connections], [2, 1]);
});
