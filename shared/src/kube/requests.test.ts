import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aLease, readAll, startTestCluster } from '../testing/index.ts';
import type { Cluster, Identity } from './cluster.ts';

const never = new AbortController().signal;
const key = { namespace: 'prod', name: 'report' };

const list = { metadata: { resourceVersion: '10', continue: '' }, items: [] };
const leaseObject = { metadata: { resourceVersion: '6' }, spec: { holderIdentity: 'pod_1' } };
const jane: Identity = { user: 'jane', uid: undefined, groups: ['ops'], extra: {} };

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
    'list as the beginning of a watch',
    async (c) => readAll(await c.watch({ kind: 'Job', timeoutSeconds: 250 }, never)),
    {},
    'GET',
    `${batch}/jobs?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=250`,
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
    (c) => c.replaceLease(key, aLease, never),
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
    (c) => c.createLease(key, { ...aLease, acquireTime: undefined, renewTime: undefined }, never),
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
    'events of a namespace',
    (c) => c.listAllEvents('prod', 1_000, never),
    list,
    'GET',
    '/api/v1/namespaces/prod/events?limit=500',
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
  [
    'health',
    (c) => c.applyHealth({ ...key, uid: 'u' }, { health: 'Healthy/3', message: 'm' }, never),
    {},
    'PATCH',
    `${batch}/namespaces/prod/cronjobs/report?fieldManager=cronjob-monitor&force=true`,
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: {
        ...key,
        uid: 'u',
        annotations: { 'cronjob-monitor.io/health': 'Healthy/3', 'cronjob-monitor.io/health-message': 'm' },
      },
    },
    'application/apply-patch+yaml',
  ],
  [
    'warning',
    (c) =>
      c.createWarning({ name: 'w', cronJob: { ...key, uid: 'u' }, reason: 'InvalidX', message: 'm', at: 0 }, never),
    {},
    'POST',
    '/api/v1/namespaces/prod/events',
    {
      metadata: { namespace: 'prod', name: 'w' },
      involvedObject: { apiVersion: 'batch/v1', kind: 'CronJob', ...key, uid: 'u' },
      type: 'Warning',
      reason: 'InvalidX',
      message: 'm',
      source: { component: 'cronjob-monitor' },
      reportingComponent: 'cronjob-monitor',
      count: 1,
      firstTimestamp: '1970-01-01T00:00:00.000Z',
      lastTimestamp: '1970-01-01T00:00:00.000Z',
    },
    json,
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
  const { server, cluster } = await startTestCluster(t, {}, '/k8s/clusters/c-1/');
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
  const { server, cluster } = await startTestCluster(t);
  await cluster.findJob({ namespace: 'a/b', name: '../c?d' }, never);
  assert.equal(server.requests[0]?.path, '/apis/batch/v1/namespaces/a%2Fb/jobs/..%2Fc%3Fd');
});
