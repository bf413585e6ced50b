import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aLease, readAll, startTestCluster } from '../testing/index.ts';
import { ClusterError, type Identity } from './cluster.ts';

const never = new AbortController().signal;
const key = { namespace: 'prod', name: 'report' };

const list = { metadata: { resourceVersion: '10', continue: '' }, items: [] };
const leaseObject = { metadata: { resourceVersion: '6' }, spec: { holderIdentity: 'pod_1' } };
const jane: Identity = { user: 'jane', uid: undefined, groups: ['ops'], extra: {} };

test('answers are read', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  const answers = async <T>(body: object, call: () => Promise<T>): Promise<T> => {
    server.answer = () => ({ body });
    return call();
  };
  const page = { metadata: { resourceVersion: '10', continue: 'next' }, items: [{ metadata: { uid: 'a' } }] };
  assert.deepEqual(await answers(page, () => cluster.listPage({ kind: 'Job' }, never)), {
    items: [{ metadata: { uid: 'a' } }],
    resourceVersion: '10',
    continueToken: 'next',
  });
  assert.equal((await answers(list, () => cluster.listPage({ kind: 'Job' }, never))).continueToken, undefined);
  assert.equal((await answers(leaseObject, () => cluster.findLease(key, never)))?.holder, 'pod_1');
  assert.equal(await answers({ gitVersion: 'v1.35.4' }, () => cluster.version(never)), 'v1.35.4');
  assert.equal(await answers({ metadata: { uid: 'k' } }, () => cluster.clusterUid(never)), 'k');
  const event = { metadata: { uid: 'e', name: 'e' }, reason: 'BackOff' };
  const events = await answers({ ...list, items: [event, {}] }, () => cluster.listEvents('a', 'b', never));
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['BackOff'],
  );
  server.answer = ({ path }) => ({
    body: path.includes('continue=more')
      ? { ...list, items: [event] }
      : { metadata: { resourceVersion: '1', continue: 'more' }, items: [event] },
  });
  assert.equal((await cluster.listAllEvents('a', 100, never))?.length, 2);
  assert.equal(await cluster.listAllEvents('a', 1, never), undefined);
  const secret = { metadata: { resourceVersion: '3', labels: { a: 'b' } }, data: { url: 'aMOk', bad: 7 } };
  assert.deepEqual(await answers(secret, () => cluster.findSecret(key, never)), {
    labels: { a: 'b' },
    resourceVersion: '3',
    values: new Map([['url', 'hä']]),
  });
  assert.equal(
    await answers({ status: { allowed: true } }, () => cluster.reviewAccess(jane, { verb: 'get', path: '/' }, never)),
    true,
  );
  const review = { status: { authenticated: true, user: { username: 'jane' } } };
  assert.equal((await answers(review, () => cluster.reviewToken('t', never)))?.user, 'jane');
});

test('an empty token names no user, and the server is not asked', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  assert.equal(await cluster.reviewToken('', never), undefined);
  assert.equal(server.requests.length, 0);
});

test('what does not exist is undefined where it is looked for, and an error where it is written', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  server.answer = () => ({ status: 404, body: { kind: 'Status', reason: 'NotFound', message: 'not found' } });
  for (const found of [
    cluster.findLease(key, never),
    cluster.findCronJob(key, never),
    cluster.findJob(key, never),
    cluster.findSecret(key, never),
  ]) {
    assert.equal(await found, undefined);
  }
  await assert.rejects(cluster.replaceLease(key, aLease, never), { code: 'notFound' });
  await assert.rejects(cluster.listPage({ kind: 'Job' }, never), { code: 'notFound' });
});

test('an answer that is no list never looks like an empty cluster', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"items":[]}',
    '{"metadata":{"resourceVersion":"1"},"items":{}}',
    '<html>',
  ]) {
    server.answer = () => ({ body });
    await assert.rejects(cluster.listPage({ kind: 'Job' }, never), { code: 'badAnswer' }, body);
  }
});

test('a log comes as it is, also an empty one of a pod that is not scheduled', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  const request = { namespace: 'a', pod: 'p', container: 'c' };
  server.answer = () => ({ body: Buffer.from([0xff, 0x00, 0x41]) });
  const chunks: Uint8Array[] = [];
  for await (const chunk of await cluster.readLog(request, never)) chunks.push(chunk);
  assert.deepEqual(Buffer.concat(chunks), Buffer.from([0xff, 0x00, 0x41]));
  server.answer = () => ({ status: 204 });
  assert.equal(await readAll(await cluster.readLog(request, never)), '');
  server.answer = () => ({ status: 400, body: { reason: 'BadRequest', message: 'container "c" is waiting to start' } });
  await assert.rejects(cluster.readLog(request, never), { code: 'invalid' });
});

test('the clock of the server is compared with ours at every answer, refusals included', async (t) => {
  const { server, clock, cluster } = await startTestCluster(t);
  assert.equal(cluster.clockSkewMs(), undefined);
  const serverAt = Math.floor(clock.now() / 1000) * 1000 + 45_000;
  server.answer = () => ({ status: 403, headers: { date: new Date(serverAt).toUTCString() } });
  await assert.rejects(cluster.version(never), { code: 'forbidden' });
  assert.equal(cluster.clockSkewMs(), serverAt - clock.now());
});

test('that our clock is set is seen before the server answers again', async (t) => {
  const { server, clock, cluster } = await startTestCluster(t);
  const serverAt = Math.floor(clock.now() / 1000) * 1000;
  server.answer = () => ({ status: 403, headers: { date: new Date(serverAt).toUTCString() } });
  await assert.rejects(cluster.version(never), { code: 'forbidden' });
  const before = cluster.clockSkewMs() ?? NaN;
  clock.stepWall(3_600_000);
  assert.equal(cluster.clockSkewMs(), before - 3_600_000);
});

test('the namespace of the context is ours', async (t) => {
  const { cluster } = await startTestCluster(t);
  assert.equal(cluster.ownNamespace, 'own');
});

test('an answer that breaks off is no answer', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  server.answer = (_request, stream) => {
    stream.begin();
    stream.write('{"gitVersion":"v1"');
    setImmediate(() => stream.cut());
    return 'streamed';
  };
  await assert.rejects(cluster.version(never), { code: 'unreachable' });
  const watch = await cluster.watch({ kind: 'Job', resourceVersion: '1', timeoutSeconds: 300 }, never);
  await assert.rejects(readAll(watch), { code: 'unreachable' });
});

test('a server that is not there is unreachable, and the message holds no secret', async (t) => {
  const { server, cluster } = await startTestCluster(t);
  await server.stop();
  await assert.rejects(cluster.version(never), (error) => {
    assert.ok(error instanceof ClusterError);
    assert.equal(error.code, 'unreachable');
    assert.equal(error.message, 'get version: the connection failed (ECONNREFUSED)');
    return true;
  });
});
