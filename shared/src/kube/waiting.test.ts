import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAll, startTestCluster, until } from '../testing/index.ts';
import { ClusterError } from './cluster.ts';

const never = new AbortController().signal;
const key = { namespace: 'prod', name: 'report' };
const leaseObject = { metadata: { resourceVersion: '6' }, spec: { holderIdentity: 'pod_1' } };

test('calls wait for the rate limit, those of the Lease do not', async (t) => {
  const { server, clock, cluster } = await startTestCluster(t, { requestsPerSecond: 1, burst: 1 });
  server.answer = ({ path }) => ({ body: path === '/version' ? {} : leaseObject });
  await cluster.version(never);
  const waiting = cluster.version(never);
  await cluster.findLease(key, never);
  assert.equal(server.requests.length, 2);
  await Promise.all([waiting, clock.advance(1000)]);
  assert.equal(server.requests.length, 3);
});

test('the time that a call waits for the rate limit is not counted against it', async (t) => {
  const { clock, cluster } = await startTestCluster(t, { requestsPerSecond: 0.01, burst: 1 });
  await cluster.version(never);
  await Promise.all([cluster.version(never), clock.advance(100_000)]);
});

test('a call that takes too long ends by itself, in its body too', async (t) => {
  const { server, clock, cluster } = await startTestCluster(t);
  server.answer = (_request, stream) => {
    stream.begin();
    stream.write('{"gitVersion":');
    return 'streamed';
  };
  const call = cluster.version(never);
  await until(() => server.requests.length === 1);
  await Promise.all([
    assert.rejects(
      call,
      (error) =>
        error instanceof ClusterError && error.code === 'timeout' && error.message === 'get version: no answer in time',
    ),
    clock.advance(10_000),
  ]);
});

test('a watch has 30 s for its head and then no limit', async (t) => {
  const { server, clock, cluster } = await startTestCluster(t);
  const request = { kind: 'Job', resourceVersion: '1', timeoutSeconds: 300 } as const;
  server.answer = () => 'never';
  const headless = cluster.watch(request, never);
  await until(() => server.requests.length === 1);
  let ended = false;
  headless.catch(() => (ended = true));
  await clock.advance(29_999);
  assert.equal(ended, false);
  await Promise.all([assert.rejects(headless, { code: 'timeout' }), clock.advance(1)]);

  const begun = Promise.withResolvers<(text: string) => void>();
  server.answer = (_request, stream) => {
    stream.begin();
    begun.resolve((text) => {
      stream.write(text);
      stream.end();
    });
    return 'streamed';
  };
  const watch = await cluster.watch(request, never);
  await clock.advance(600_000);
  (await begun.promise)('late\n');
  assert.equal(await readAll(watch), 'late\n');
});

test('an aborted call says so, whenever it is aborted', async (t) => {
  const { server, cluster } = await startTestCluster(t, { requestsPerSecond: 1, burst: 1 });
  const aborted = AbortSignal.abort(new Error('stopping'));
  await assert.rejects(cluster.version(aborted), { code: 'aborted' });
  await assert.rejects(cluster.findLease(key, aborted), { code: 'aborted' });
  assert.equal(server.requests.length, 0);

  server.answer = () => 'never';
  const stop = new AbortController();
  const asked = cluster.version(stop.signal);
  const waiting = cluster.version(stop.signal);
  await until(() => server.requests.length === 1);
  stop.abort();
  await assert.rejects(asked, { code: 'aborted' });
  await assert.rejects(waiting, { code: 'aborted' });
});

test('a stream ends with its signal, and lets the connection go when its reader stops', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  server.answer = (_request, stream) => {
    stream.begin();
    stream.write('one\n');
    return 'streamed';
  };
  const request = { kind: 'Job', resourceVersion: '1', timeoutSeconds: 300 } as const;
  const stop = new AbortController();
  const reader = (await cluster.watch(request, stop.signal))[Symbol.asyncIterator]();
  assert.equal(Buffer.from((await reader.next()).value as Uint8Array).toString(), 'one\n');
  const next = reader.next();
  stop.abort();
  await assert.rejects(next, { code: 'aborted' });

  for await (const chunk of await cluster.watch(request, never)) {
    assert.equal(Buffer.from(chunk).toString(), 'one\n');
    break;
  }
});

test('logs and events keep to a limit of their own, and a server that wants a rest from them gets calls all the same', async (t) => {
  const { server, clock, cluster } = await startTestCluster(t, {
    requestsPerSecond: 1,
    burst: 1,
    evidencePerSecond: 10,
  });
  const list = { metadata: { resourceVersion: '1' }, items: [] };
  let isBusy = false;
  server.answer = ({ path }) =>
    isBusy && path.includes('/events') ? { status: 429, headers: { 'retry-after': '3' }, body: {} } : { body: list };
  const events = (): Promise<unknown> => cluster.listEvents('prod', 'u', never);
  await Promise.all(Array.from({ length: 20 }, events));
  assert.equal(server.requests.length, 20);
  isBusy = true;
  await Promise.all([assert.rejects(events(), { code: 'throttled' }), clock.advance(100)]);
  isBusy = false;
  let isThrough = false;
  const waiting = events().then(() => (isThrough = true));
  await clock.advance(2_900);
  await cluster.version(never);
  assert.equal(isThrough, false);
  await Promise.all([waiting, clock.advance(300)]);
});
