import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  aTemporaryFolder,
  aTestCertificate,
  FakeClock,
  kubeconfigText,
  RecordingLogger,
  TestServer,
  until,
  type TestCertificate,
} from '../testing/index.ts';
import { createCluster, type ClusterOptions } from './client.ts';
import { ClusterError, type WatchRequest } from './cluster.ts';

const never = new AbortController().signal;
const certificate = aTestCertificate();
const aWatch: WatchRequest = { kind: 'Job', resourceVersion: '1', timeoutSeconds: 300 };

async function start(t: TestContext, tls: TestCertificate | undefined, options: Partial<ClusterOptions> = {}) {
  const server = await TestServer.start(tls);
  const content = { server: server.url, ...(tls ? { ca: tls.cert } : {}) };
  const clock = new FakeClock();
  const cluster = createCluster({
    kubeconfig: join(aTemporaryFolder(t, { config: kubeconfigText(content) }), 'config'),
    clock,
    logger: new RecordingLogger(),
    requestsPerSecond: 1000,
    burst: 1_000_000,
    ...options,
  });
  t.after(async () => {
    await cluster.close();
    await server.stop();
  });
  return { server, clock, cluster };
}

/** Watches stay open, everything else is answered. */
function answerAll(server: TestServer): void {
  server.answer = ({ path }, stream) => {
    if (!path.includes('watch=1')) return { body: { gitVersion: 'v1.35.4' } };
    stream.begin();
    return 'streamed';
  };
}

test('ten watches and 600 calls take no more than four connections', async (t) => {
  const { server, cluster } = await start(t, certificate);
  answerAll(server);
  const stop = new AbortController();
  const watches = await Promise.all(Array.from({ length: 10 }, () => cluster.watch(aWatch, stop.signal)));
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 60 }, () => cluster.version(never)));
  }
  await cluster.findLease({ namespace: 'a', name: 'b' }, never).catch(() => undefined);
  assert.equal(server.requests.length, 611);
  assert.ok(server.connections <= 4, `${server.connections} connections`);
  stop.abort();
  for (const watch of watches) await assert.rejects(watch[Symbol.asyncIterator]().next(), { code: 'aborted' });
});

test('three hundred calls at once do not open a connection each', async (t) => {
  const { server, cluster } = await start(t, certificate);
  answerAll(server);
  await Promise.all(Array.from({ length: 300 }, () => cluster.version(never)));
  assert.ok(server.connections <= 2, `${server.connections} connections`);
});

test('over plain HTTP, calls one after the other reuse connections', async (t) => {
  const { server, cluster } = await start(t, undefined);
  answerAll(server);
  for (let call = 0; call < 30; call++) await cluster.version(never);
  assert.ok(server.connections <= 2, `${server.connections} connections`);
});

test('Lease, calls and watches each have connections of their own', async (t) => {
  const { server, cluster } = await start(t, certificate);
  server.answer = (_request, stream) => {
    stream.begin();
    stream.write('{"metadata":{"resourceVersion":"1"}}');
    stream.end();
    return 'streamed';
  };
  await cluster.version(never);
  await cluster.findLease({ namespace: 'a', name: 'b' }, never);
  const watch = (await cluster.watch(aWatch, never))[Symbol.asyncIterator]();
  while (!(await watch.next()).done);
  assert.equal(server.connections, 3);
});

test('a connection from which nothing comes back is not used again', async (t) => {
  const { server, clock, cluster } = await start(t, certificate);
  answerAll(server);
  await cluster.version(never);
  server.answer = () => 'never';
  const call = cluster.version(never);
  await until(() => server.requests.length === 2);
  await Promise.all([assert.rejects(call, { code: 'timeout' }), clock.advance(10_000)]);
  answerAll(server);
  await cluster.version(never);
  assert.equal(server.connections, 2);
});

test('a Lease call that its caller gives up casts the same doubt', async (t) => {
  const { server, clock, cluster } = await start(t, certificate);
  server.answer = () => 'never';
  const giveUp = new AbortController();
  const call = cluster.findLease({ namespace: 'a', name: 'b' }, giveUp.signal);
  await until(() => server.requests.length === 1);
  await clock.advance(5000);
  giveUp.abort();
  await assert.rejects(call, { code: 'aborted' });
  server.answer = () => ({ status: 404 });
  assert.equal(await cluster.findLease({ namespace: 'a', name: 'b' }, never), undefined);
  assert.equal(server.connections, 2);
});

test('one slow call among answered ones keeps its connection', async (t) => {
  const { server, clock, cluster } = await start(t, certificate);
  server.answer = ({ path }) => (path.startsWith('/version') ? { body: {} } : 'never');
  const slow = cluster.listPods('a', 'b=c', never);
  await until(() => server.requests.length === 1);
  await clock.advance(5000);
  await cluster.version(never);
  await Promise.all([assert.rejects(slow, { code: 'timeout' }), clock.advance(5000)]);
  await cluster.version(never);
  assert.equal(server.connections, 1);
});

test('a watch that is given up after long silence gets a new connection, one that is busy does not', async (t) => {
  const { server, clock, cluster } = await start(t, certificate);
  answerAll(server);
  const giveUp = async (afterMs: number): Promise<void> => {
    const stop = new AbortController();
    const next = (await cluster.watch(aWatch, stop.signal))[Symbol.asyncIterator]().next();
    await clock.advance(afterMs);
    stop.abort();
    await assert.rejects(next, { code: 'aborted' });
  };
  await giveUp(1000);
  await giveUp(90_000);
  assert.equal(server.connections, 1);
  await giveUp(0);
  assert.equal(server.connections, 2);
});

test('broken connections are reported and the next call has a new one', async (t) => {
  const { server, cluster } = await start(t, certificate);
  answerAll(server);
  const watch = await cluster.watch(aWatch, never);
  const next = watch[Symbol.asyncIterator]().next();
  server.cutConnections();
  await assert.rejects(next, (error) => error instanceof ClusterError && error.code === 'unreachable');
  assert.equal(await cluster.version(never), 'v1.35.4');
});

test('a server that speaks only HTTP/1.1 is served too', async (t) => {
  const { server, cluster } = await start(t, undefined);
  answerAll(server);
  const watch = await cluster.watch(aWatch, never);
  const next = watch[Symbol.asyncIterator]().next();
  assert.equal(await cluster.version(never), 'v1.35.4');
  assert.deepEqual(new Set(server.requests.map(({ httpVersion }) => httpVersion)), new Set(['1.1']));
  server.cutConnections();
  await assert.rejects(next, { code: 'unreachable' });
});
