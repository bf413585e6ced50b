import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { aTemporaryFolder, FakeClock, kubeconfigText, RecordingLogger, TestServer, until } from '../testing/index.ts';
import { createCluster, type ClusterOptions } from './client.ts';
import { ClusterError, type Cluster, type Identity, type LeaseRecord } from './cluster.ts';

const never = new AbortController().signal;
const key = { namespace: 'prod', name: 'report' };

async function start(t: TestContext, options: Partial<ClusterOptions> = {}, path = '') {
  const server = await TestServer.start();
  const clock = new FakeClock();
  const cluster = createCluster({
    kubeconfig: join(
      aTemporaryFolder(t, { config: kubeconfigText({ server: `${server.url}${path}`, namespace: 'own' }) }),
      'config',
    ),
    clock,
    logger: new RecordingLogger(),
    ...options,
  });
  t.after(async () => {
    await cluster.close();
    await server.stop();
    assert.equal(clock.sleepers, 0, 'no timer is left');
  });
  return { server, clock, cluster };
}

const list = { metadata: { resourceVersion: '10', continue: '' }, items: [] };
const lease: LeaseRecord = {
  resourceVersion: '5',
  holder: 'pod_1',
  leaseDurationSeconds: 15,
  acquireTime: '2026-11-21T07:53:00.000Z',
  renewTime: '2026-11-21T07:53:10.123456Z',
  transitions: 2,
};
const leaseObject = { metadata: { resourceVersion: '6' }, spec: { holderIdentity: 'pod_1' } };
const jane: Identity = { user: 'jane', uid: undefined, groups: ['ops'], extra: {} };
const readAll = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

/** [what is called, the call, answer, method, path, body, content type] */
type Row = [string, (cluster: Cluster) => Promise<unknown>, object, string, string, object?, string?];
const batch = '/apis/batch/v1';
const own = '/apis/cronjob-monitor.io/v1alpha1';
const json = 'application/json';
const merge = 'application/merge-patch+json';
const rows: Row[] = [
  ['list of all namespaces', (c) => c.listPage({ kind: 'CronJob' }, never), list, 'GET', `${batch}/cronjobs`],
  [
    'list of one namespace',
    (c) => c.listPage({ kind: 'Job', namespace: 'prod' }, never),
    list,
    'GET',
    `${batch}/namespaces/prod/jobs`,
  ],
  [
    'next page',
    (c) => c.listPage({ kind: 'Job', limit: 500, continueToken: 'a+b=' }, never),
    list,
    'GET',
    `${batch}/jobs?limit=500&continue=a%2Bb%3D`,
  ],
  [
    'pods of Jobs only',
    (c) => c.listPage({ kind: 'Pod', limit: 500 }, never),
    list,
    'GET',
    '/api/v1/pods?labelSelector=job-name&limit=500',
  ],
  ['namespaces', (c) => c.listPage({ kind: 'Namespace' }, never), list, 'GET', '/api/v1/namespaces'],
  ['our own kinds', (c) => c.listPage({ kind: 'CronJobMonitor' }, never), list, 'GET', `${own}/cronjobmonitors`],
  ['channels', (c) => c.listPage({ kind: 'AlertChannel' }, never), list, 'GET', `${own}/alertchannels`],
  [
    'watch',
    async (c) =>
      readAll(await c.watch({ kind: 'Pod', namespace: 'a', resourceVersion: '7', timeoutSeconds: 250 }, never)),
    {},
    'GET',
    '/api/v1/namespaces/a/pods?watch=1&labelSelector=job-name&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=250',
  ],
  [
    'status of a monitor',
    (c) => c.patchMonitorStatus(key, { phase: null }, '9', never),
    {},
    'PATCH',
    `${own}/namespaces/prod/cronjobmonitors/report/status`,
    { metadata: { resourceVersion: '9' }, status: { phase: null } },
    merge,
  ],
  [
    'status of a channel',
    (c) => c.patchChannelStatus('chat', { ready: true }, undefined, never),
    {},
    'PATCH',
    `${own}/alertchannels/chat/status`,
    { status: { ready: true } },
    merge,
  ],
  [
    'Lease',
    (c) => c.findLease(key, never),
    leaseObject,
    'GET',
    '/apis/coordination.k8s.io/v1/namespaces/prod/leases/report',
  ],
  [
    'renewal, with six decimals',
    (c) => c.replaceLease(key, lease, never),
    leaseObject,
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/prod/leases/report',
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'report', namespace: 'prod', resourceVersion: '5' },
      spec: {
        holderIdentity: 'pod_1',
        leaseDurationSeconds: 15,
        acquireTime: '2026-11-21T07:53:00.000000Z',
        renewTime: '2026-11-21T07:53:10.123456Z',
        leaseTransitions: 2,
      },
    },
    json,
  ],
  [
    'first Lease',
    (c) => c.createLease(key, { ...lease, acquireTime: undefined, renewTime: undefined }, never),
    leaseObject,
    'POST',
    '/apis/coordination.k8s.io/v1/namespaces/prod/leases',
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'report', namespace: 'prod' },
      spec: { holderIdentity: 'pod_1', leaseDurationSeconds: 15, leaseTransitions: 2 },
    },
    json,
  ],
  [
    'events',
    (c) => c.listEvents('prod', 'u-1', never),
    list,
    'GET',
    '/api/v1/namespaces/prod/events?fieldSelector=involvedObject.uid%3Du-1&limit=100',
  ],
  [
    'log',
    async (c) =>
      readAll(
        await c.readLog(
          { namespace: 'prod', pod: 'p', container: 'main', previous: true, tailLines: 100, limitBytes: 9 },
          never,
        ),
      ),
    {},
    'GET',
    '/api/v1/namespaces/prod/pods/p/log?container=main&previous=true&tailLines=100&limitBytes=9',
  ],
  [
    'pods of a Job',
    (c) => c.listPodsOfJob('prod', 'report-1', never),
    list,
    'GET',
    '/api/v1/namespaces/prod/pods?labelSelector=job-name%3Dreport-1&limit=500',
  ],
  [
    'peers',
    (c) => c.listPods('own', 'app=a,b=c', never),
    list,
    'GET',
    '/api/v1/namespaces/own/pods?labelSelector=app%3Da%2Cb%3Dc&limit=500',
  ],
  ['CronJob', (c) => c.findCronJob(key, never), {}, 'GET', `${batch}/namespaces/prod/cronjobs/report`],
  ['Job', (c) => c.findJob(key, never), {}, 'GET', `${batch}/namespaces/prod/jobs/report`],
  [
    'new Job',
    (c) => c.createJob('prod', { kind: 'Job' }, never),
    {},
    'POST',
    `${batch}/namespaces/prod/jobs`,
    { kind: 'Job' },
    json,
  ],
  [
    'suspension',
    (c) => c.setSuspended(key, true, never),
    {},
    'PATCH',
    `${batch}/namespaces/prod/cronjobs/report`,
    { spec: { suspend: true } },
    merge,
  ],
  ['Secret', (c) => c.findSecret(key, never), {}, 'GET', '/api/v1/namespaces/prod/secrets/report'],
  [
    'token',
    (c) => c.reviewToken('t', never),
    {},
    'POST',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 't' } },
    json,
  ],
  [
    'access',
    (c) => c.reviewAccess(jane, { verb: 'get', path: '/metrics' }, never),
    {},
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: 'jane', groups: ['ops'], extra: {}, nonResourceAttributes: { verb: 'get', path: '/metrics' } },
    },
    json,
  ],
  ['version', (c) => c.version(never), {}, 'GET', '/version'],
  ['cluster', (c) => c.clusterUid(never), {}, 'GET', '/api/v1/namespaces/kube-system'],
];

test('each question goes where the API server expects it', async (t) => {
  const { server, cluster } = await start(t, {}, '/k8s/clusters/c-1/');
  for (const [title, call, answer, method, path, body, contentType] of rows) {
    await t.test(title, async () => {
      server.answer = () => ({ body: answer });
      await call(cluster);
      const seen = server.requests.at(-1);
      assert.equal(seen?.method, method);
      assert.equal(seen?.path, `/k8s/clusters/c-1${path}`);
      assert.deepEqual(seen?.body === '' ? undefined : JSON.parse(seen?.body ?? ''), body);
      assert.equal(seen?.headers['content-type'], contentType);
      assert.equal(seen?.headers['authorization'], 'Bearer secret');
      assert.equal(seen?.headers['user-agent'], 'cronjob-monitor');
    });
  }
});

test('what a path cannot hold as it is, is encoded', async (t) => {
  const { server, cluster } = await start(t);
  await cluster.findJob({ namespace: 'a/b', name: '../c?d' }, never);
  assert.equal(server.requests[0]?.path, '/apis/batch/v1/namespaces/a%2Fb/jobs/..%2Fc%3Fd');
});

test('answers are read', async (t) => {
  const { server, cluster } = await start(t);
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

test('an empty token is nobody, and the server is not asked', async (t) => {
  const { server, cluster } = await start(t);
  assert.equal(await cluster.reviewToken('', never), undefined);
  assert.equal(server.requests.length, 0);
});

test('what does not exist is undefined where it is looked for, and an error where it is written', async (t) => {
  const { server, cluster } = await start(t);
  server.answer = () => ({ status: 404, body: { kind: 'Status', reason: 'NotFound', message: 'not found' } });
  for (const found of [
    cluster.findLease(key, never),
    cluster.findCronJob(key, never),
    cluster.findJob(key, never),
    cluster.findSecret(key, never),
  ]) {
    assert.equal(await found, undefined);
  }
  await assert.rejects(cluster.replaceLease(key, lease, never), { code: 'notFound' });
  await assert.rejects(cluster.listPage({ kind: 'Job' }, never), { code: 'notFound' });
});

test('an answer that is no list never looks like an empty cluster', async (t) => {
  const { server, cluster } = await start(t);
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
  const { server, cluster } = await start(t);
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
  const { server, clock, cluster } = await start(t);
  assert.equal(cluster.clockSkewMs(), undefined);
  const serverAt = Math.floor(clock.now() / 1000) * 1000 + 45_000;
  server.answer = () => ({ status: 403, headers: { date: new Date(serverAt).toUTCString() } });
  await assert.rejects(cluster.version(never), { code: 'forbidden' });
  assert.equal(cluster.clockSkewMs(), serverAt - clock.now());
});

test('that our clock is set is seen before the server answers again', async (t) => {
  const { server, clock, cluster } = await start(t);
  const serverAt = Math.floor(clock.now() / 1000) * 1000;
  server.answer = () => ({ status: 403, headers: { date: new Date(serverAt).toUTCString() } });
  await assert.rejects(cluster.version(never), { code: 'forbidden' });
  const before = cluster.clockSkewMs() ?? NaN;
  clock.stepWall(3_600_000);
  assert.equal(cluster.clockSkewMs(), before - 3_600_000);
});

test('the namespace of the context is ours', async (t) => {
  const { cluster } = await start(t);
  assert.equal(cluster.ownNamespace, 'own');
});

test('calls wait for the rate limit, those of the Lease do not', async (t) => {
  const { server, clock, cluster } = await start(t, { requestsPerSecond: 1, burst: 1 });
  server.answer = ({ path }) => ({ body: path === '/version' ? {} : leaseObject });
  await cluster.version(never);
  const waiting = cluster.version(never);
  await cluster.findLease(key, never);
  assert.equal(server.requests.length, 2);
  await Promise.all([waiting, clock.advance(1000)]);
  assert.equal(server.requests.length, 3);
});

test('the time that a call waits for the rate limit is not counted against it', async (t) => {
  const { clock, cluster } = await start(t, { requestsPerSecond: 0.01, burst: 1 });
  await cluster.version(never);
  await Promise.all([cluster.version(never), clock.advance(100_000)]);
});

test('a call that takes too long ends by itself, in its body too', async (t) => {
  const { server, clock, cluster } = await start(t);
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
  const { server, clock, cluster } = await start(t);
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
  const { server, cluster } = await start(t, { requestsPerSecond: 1, burst: 1 });
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
  const { server, cluster } = await start(t);
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

test('an answer that breaks off is no answer', async (t) => {
  const { server, cluster } = await start(t);
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
  const { server, cluster } = await start(t);
  await server.stop();
  await assert.rejects(cluster.version(never), (error) => {
    assert.ok(error instanceof ClusterError);
    assert.equal(error.code, 'unreachable');
    assert.equal(error.message, 'get version: the connection failed (ECONNREFUSED)');
    return true;
  });
});
