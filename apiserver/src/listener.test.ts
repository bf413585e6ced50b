import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { listenApi, type Bounds } from './listener.ts';
import { ask } from './testing/http.ts';

const loopback = { host: '127.0.0.1', port: 0 };
const around = (clock = new FakeClock(), logger = new RecordingLogger()) => ({ clock, logger });

/** Sends bytes as they are and gives what comes back until the connection ends. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => (answer += piece));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

test('listens at a port of its own choice and says which', async () => {
  const listener = await listenApi((_request, response) => response.end('here'), loopback, around());
  assert.equal((await ask(listener.port, '/', {})).text, 'here');
  await listener.close(0);
});

test('says which port is taken', async () => {
  const clock = new FakeClock();
  const first = await listenApi((_request, response) => response.end(), loopback, around(clock));
  await assert.rejects(
    listenApi((_request, response) => response.end(), { ...loopback, port: first.port }, around(clock)),
    /EADDRINUSE/,
  );
  await first.close(0);
});

test('what is no HTTP is refused in JSON with the id of its line in the log, and so are headers that are too long', async () => {
  const logger = new RecordingLogger();
  const places = around(undefined, logger);
  const listener = await listenApi((_request, response) => response.end('here'), loopback, places);
  const refused = async (text: string): Promise<{ status: number; code: string; message: string }> => {
    const answer = await sendRaw(listener.port, text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    const { error } = JSON.parse(body) as { error: { code: string; message: string; requestId: string } };
    assert.match(error.requestId, /^[\w-]{12}$/);
    assert.ok(head.includes(`X-Request-Id: ${error.requestId}`));
    assert.match(head, /no-store/);
    assert.equal(logger.lines.at(-1)?.fields['requestId'], error.requestId);
    return { status: Number(head.split(' ')[1]), code: error.code, message: error.message };
  };
  assert.deepEqual(await refused('this is no request\r\n\r\n'), {
    status: 400,
    code: 'INVALID_REQUEST',
    message: 'The request could not be read as HTTP/1.1',
  });
  const long = await refused(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  assert.equal(long.status, 431);
  assert.match(long.message, /16 KiB/);
  const noHost = await refused('GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
  assert.deepEqual([noHost.status, noHost.message], [400, 'A request of HTTP/1.1 has the header Host']);
  assert.match(await sendRaw(listener.port, 'GET / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 [^]*here$/);
  await listener.close(0);
});

/** Bounds as short as a test can wait for. */
const short: Bounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 100,
  requestTimeout: 200,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 20,
  idleLimitMs: 150,
  maxConnections: 2,
};

test('a head that comes drop by drop, and a body that never ends, are given up with 408', async () => {
  const waitsForBody: RequestListener = (request, response) => {
    request.resume();
    request.on('error', () => {}); // the connection is cut
    request.on('end', () => response.end('whole'));
  };
  const listener = await listenApi(waitsForBody, loopback, around(), short);
  const [head, body] = await Promise.all([
    sendRaw(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '),
    sendRaw(listener.port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf'),
  ]);
  assert.match(head, /^HTTP\/1\.1 408 /);
  assert.doesNotMatch(body, /whole/);
  await listener.close(0);
});

test('a client that takes nothing of its answer is cut off', async () => {
  const { promise: cut, resolve: wasCut } = Promise.withResolvers<void>();
  const listener = await listenApi(
    (_request, response) => {
      response.once('close', () => wasCut());
      response.write(Buffer.alloc(32 * 1024 * 1024)); // more than all buffers between us hold
    },
    loopback,
    around(),
    short,
  );
  const socket = connect(listener.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  socket.pause();
  socket.on('error', () => {}); // that is the end it is about
  await cut;
  socket.destroy();
  await listener.close(0);
});

test('more connections than allowed are closed at once', async () => {
  const listener = await listenApi((_request, response) => response.end('here'), loopback, around(), short);
  const idle = [connect(listener.port, '127.0.0.1'), connect(listener.port, '127.0.0.1')];
  for (const socket of idle) {
    // Cut by the listener's bounds while the test still runs.
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve)); // one after the other: the third is then one too many
  }
  const third = await sendRaw(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').catch((error: unknown) =>
    String(error),
  );
  assert.doesNotMatch(third, /here/);
  for (const socket of idle) socket.destroy();
  await listener.close(0);
});

test('connections that wait for a next request make room for those that have one', async () => {
  const answer: RequestListener = (_request, response) => response.end('here');
  const listener = await listenApi(answer, loopback, around(), { ...short, idleLimitMs: 60_000 });
  const idle = Array.from({ length: 2 }, () => connect(listener.port, '127.0.0.1'));
  const closed = idle.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  for (const socket of idle) {
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await answered;
  }
  await sendRaw(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => '');
  await Promise.all(closed);
  assert.equal((await ask(listener.port, '/', {})).text, 'here');
  await listener.close(0);
});

test('closing lets open requests end and then their connections', async () => {
  const clock = new FakeClock();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const listener = await listenApi(
    (_request, response) => {
      begin();
      void released.then(() => response.end('late'));
    },
    loopback,
    around(clock),
  );
  const answer = fetch(`http://127.0.0.1:${listener.port}/`); // keeps its connection alive
  await begun;
  const state = { isClosed: false };
  const closed = listener.close(20_000).then(() => (state.isClosed = true));
  await clock.advance(1_000);
  assert.equal(state.isClosed, false);
  release();
  assert.equal(await (await answer).text(), 'late');
  for (let turn = 0; turn < 100 && !state.isClosed; turn += 1) {
    await clock.advance(100);
    await wait(2); // the connection is a real one
  }
  await closed;
  assert.ok(clock.monotonicMs() < 20_000);
});

test('closing cuts what does not end in time', async () => {
  const clock = new FakeClock();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const listener = await listenApi(() => begin(), loopback, around(clock));
  const answer = fetch(`http://127.0.0.1:${listener.port}/`).catch((error: unknown) => error);
  await begun;
  const closed = listener.close(20_000);
  await clock.advance(20_000);
  await closed;
  assert.ok((await answer) instanceof Error);
});
