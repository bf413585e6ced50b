import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FakeClock, RecordingLogger, settle, TestServer, until } from '@cronjob-monitor/shared/testing';
import { Connections, createAddressRules, createUrlCall } from '../channels/index.ts';
import { runOutboundHeartbeat } from './own-dead-man.ts';

const secret = 'hunter2-hunter2';

interface Options {
  readonly allow?: readonly string[];
  readonly urlOf?: (server: TestServer) => string;
}

/** The heartbeat of a leader, to a server on loopback, under a clock that stands still. */
async function aHeartbeat(t: TestContext, { allow = ['127.0.0.0/8'], urlOf }: Options = {}) {
  const server = await TestServer.start();
  t.after(() => server.stop());
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const term = new AbortController();
  const unwell: string[] = [];
  const succeeded: number[] = [];
  const addresses = createAddressRules({ deny: [], allow, pagingEndpoints: [] });
  const url = urlOf?.(server) ?? `${server.url}/ping/${secret}?token=${secret}`;
  const running = runOutboundHeartbeat(
    {
      call: createUrlCall(url, { clock, addresses, connections: new Connections() }),
      unwellBecause: () => Promise.resolve(unwell),
      onSucceeded: (at) => succeeded.push(at),
      clock,
      logger,
    },
    term.signal,
  );
  t.after(async () => {
    term.abort(new Error('the test is over'));
    await running;
    assert.equal(clock.sleepers, 0);
    assert.ok(!JSON.stringify(logger.lines).includes(secret), 'the address is a secret');
  });
  const untilCalls = async (calls: number): Promise<void> => {
    await until(() => server.requests.length >= calls);
    await until(() => clock.sleepers === 1); // the answer was judged: only the next beat is waited for
    await settle();
    assert.equal(server.requests.length, calls);
  };
  const warned = (): unknown[] =>
    logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields['reason']);
  return { server, clock, logger, term, unwell, succeeded, untilCalls, warned };
}

test('a leader that is well calls every minute', async (t) => {
  const { server, clock, succeeded, untilCalls, logger } = await aHeartbeat(t);
  await untilCalls(1);
  const [request] = server.requests;
  assert.deepEqual([request?.method, request?.path], ['GET', `/ping/${secret}?token=${secret}`]);
  await clock.advance(59_999);
  await untilCalls(1);
  await clock.advance(1);
  await untilCalls(2);
  assert.deepEqual(succeeded, [clock.now() - 60_000, clock.now()]);
  assert.deepEqual(logger.lines, []);
});

test('while something is not well no call is made, which is told once, and then at once', async (t) => {
  const { clock, unwell, untilCalls, warned, logger } = await aHeartbeat(t);
  await untilCalls(1);
  unwell.push('messages are not sent');
  await clock.advance(300_000);
  await untilCalls(1);
  assert.deepEqual(warned(), ['messages are not sent']);
  unwell.length = 0;
  await clock.advance(5_000);
  await untilCalls(2);
  assert.equal(logger.lines.at(-1)?.message, 'the outbound heartbeat works again');
});

test('a receiver that refuses is called again soon, and told of once', async (t) => {
  const { server, clock, succeeded, untilCalls, warned } = await aHeartbeat(t);
  server.answer = () => ({ status: 500, body: secret });
  await untilCalls(1);
  await clock.advance(15_000);
  await untilCalls(2);
  assert.deepEqual([warned(), succeeded], [['it answered 500'], []]);
  server.answer = () => ({});
  await clock.advance(15_000);
  await untilCalls(3);
  assert.deepEqual(succeeded, [clock.now()]);
});

test('a redirect is not followed', async (t) => {
  const { server, untilCalls, warned } = await aHeartbeat(t);
  server.answer = ({ path }) => (path === '/else' ? {} : { status: 302, headers: { location: '/else' } });
  await untilCalls(1);
  assert.deepEqual(warned(), ['it answered 302']);
});

test('a receiver that does not answer is left after 15 s', async (t) => {
  const { server, clock, untilCalls, warned } = await aHeartbeat(t);
  server.answer = () => 'never';
  await until(() => server.requests.length === 1);
  await clock.advance(15_000);
  await untilCalls(1);
  assert.deepEqual(warned(), ['no answer within 15 s']);
});

test('an address that receivers may not have is not called', async (t) => {
  const { server, clock, warned } = await aHeartbeat(t, { allow: [] });
  await until(() => clock.sleepers === 1);
  await settle();
  assert.match(String(warned()[0]), /its address is not allowed: loopback, .*; channels\.allow-cidrs makes exceptions/);
  assert.equal(server.connections, 0);
});

test('user and password of the address go as a header', async (t) => {
  const urlOf = ({ url }: TestServer): string => url.replace('//', `//me:${secret}%21@`);
  const { server, untilCalls } = await aHeartbeat(t, { urlOf });
  await untilCalls(1);
  const expected = `Basic ${Buffer.from(`me:${secret}!`).toString('base64')}`;
  assert.equal(server.requests[0]?.headers['authorization'], expected);
});

test('no call is made when the term is over', async (t) => {
  const { server, clock, term, untilCalls } = await aHeartbeat(t);
  await untilCalls(1);
  term.abort(new Error('the lead is lost'));
  await clock.advance(600_000);
  assert.equal(server.requests.length, 1);
});
