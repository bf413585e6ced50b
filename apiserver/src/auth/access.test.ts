import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilities, type Wall, type Whoami } from '@cronjob-monitor/shared/contract';
import { putEvidence } from '@cronjob-monitor/shared/store';
import { documentedRoutes } from '../openapi/index.ts';
import { testSettings } from '../testing/api.ts';
import { startFleet, type TestFleet } from '../testing/fleet.ts';
import { ReviewingCluster } from '../testing/reviewing-cluster.ts';

/** Two CronJobs in two namespaces, each with a monitor and a run, and who may see what. */
async function twoNamespaces(settings: Parameters<typeof startFleet>[0] = {}) {
  const cluster = new ReviewingCluster()
    .grant('admin', 'list cronjobs', 'get pods/log', 'list cronjobmonitors', 'list alertchannels', 'get /api/v1/config')
    .grant('dev', 'list cronjobs in dev', 'list cronjobmonitors in dev', 'patch cronjobs in dev')
    .grant('nobody');
  const fleet = await startFleet({
    ...settings,
    settings: { authMode: 'token', ...settings.settings },
    cluster: cluster.asCluster(),
  });
  for (const namespace of ['dev', 'prod']) {
    const cronJob = await fleet.addCronJob({ namespace, name: `job-of-${namespace}` });
    await fleet.addMonitor({ namespace, name: `monitor-of-${namespace}` }, [cronJob]);
    await fleet.addRuns(cronJob, {});
  }
  return { cluster, fleet };
}

function as(fleet: TestFleet, token: string) {
  const headers = { Authorization: `Bearer ${token}` };
  return (path: string, method = 'GET') => fleet.ask(`/api/v1/${path}`, { method, headers });
}

const namesOf = (answer: { json(): unknown }): string[] =>
  (answer.json() as { items: { name: string }[] }).items.map(({ name }) => name);

test('without a token, with a malformed one and with one that the cluster does not know: 401, and what to bring', async () => {
  const { cluster, fleet } = await twoNamespaces();
  await using api = fleet;
  const sent = [undefined, 'Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer invented', 'admin'];
  for (const authorization of sent) {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const answer = await api.ask('/api/v1/cronjobs', { headers });
    assert.equal(answer.status, 401, authorization);
    assert.equal(answer.error().code, 'UNAUTHENTICATED');
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
    assert.equal(answer.error().details, undefined);
    assert.ok(!answer.text.includes('job-of-'));
  }
  assert.deepEqual(cluster.asked, ['token invented'], 'only what can be a token is reviewed');
});

test('health, whoami, files and pages are open', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  assert.equal((await api.ask('/api/v1/health')).status, 200);
  assert.equal((await api.ask('/api/v1/whoami')).status, 200);
});

test('lists and figures leave out the namespaces that the caller may not read', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  const dev = as(api, 'dev');
  assert.deepEqual(namesOf(await dev('cronjobs')), ['job-of-dev']);
  assert.deepEqual(namesOf(await dev('cronjobs?namespace=dev,prod')), ['job-of-dev']);
  assert.deepEqual(namesOf(await dev('cronjobs?namespace=prod')), []);
  assert.deepEqual(namesOf(await dev('cronjobs?namespace=prod&sort=nextRun')), []);
  assert.deepEqual(namesOf(await dev('monitors')), ['monitor-of-dev']);
  assert.deepEqual(namesOf(await dev('timeline')), ['job-of-dev']);
  assert.deepEqual(namesOf(await dev('grid')), ['job-of-dev']);
  const { rows, pagination } = (await dev('wall')).json() as Wall;
  assert.deepEqual(
    rows.map(({ cronjob }) => cronjob.name),
    ['job-of-dev'],
  );
  assert.equal(pagination.total, 1);
  assert.deepEqual(((await dev('wall?namespace=prod')).json() as Wall).rows, []);
  const { runs, cronjobs } = (await dev('tonight?until=2026-11-22T06:00:00Z')).json() as Record<string, number>;
  assert.ok(Number(runs) > 0);
  assert.equal(cronjobs, 1);
  assert.equal(((await dev('tonight?namespace=prod')).json() as { runs: number }).runs, 0);
  const stats = (await dev('stats')).json() as Record<string, unknown>;
  assert.deepEqual([stats['totalCronJobs'], stats['totalMonitors'], stats['executionsRecorded24h']], [1, 1, 1]);
  const paged = (await dev('cronjobs?limit=10')).json() as { pagination: { total: number } };
  assert.equal(paged.pagination.total, 1);
  const days = (await dev('series?days=2')).json() as { items: { success: number }[] };
  assert.equal(
    days.items.reduce((sum, { success }) => sum + success, 0),
    1,
  );
  assert.deepEqual(namesOf(await as(api, 'admin')('cronjobs')), ['job-of-dev', 'job-of-prod']);
  const nobody = as(api, 'nobody');
  assert.deepEqual(namesOf(await nobody('cronjobs')), []);
  assert.equal(((await nobody('stats')).json() as { totalCronJobs: number }).totalCronJobs, 0);
});

test('a monitor that reaches into another namespace tells no more of it than the caller may read', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  const mine = await api.addCronJob({ namespace: 'dev', name: 'mine' });
  const theirs = await api.addCronJob({ namespace: 'prod', name: 'theirs' });
  await api.addMonitor({ namespace: 'dev', name: 'wide' }, [mine, theirs]);
  const read = async (token: string) => {
    const { cronJobs, cronJobCount } = (await as(api, token)('monitors/dev/wide')).json() as {
      cronJobs: { name: string }[];
      cronJobCount: number;
    };
    return [cronJobs.map(({ name }) => name).toSorted(), cronJobCount];
  };
  assert.deepEqual(await read('dev'), [['mine'], 1]);
  assert.deepEqual(await read('admin'), [['mine', 'theirs'], 2]);
});

test('a single object is 403 before it is looked up, and the answer names what is missing', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  const dev = as(api, 'dev');
  for (const path of ['cronjobs/prod/job-of-prod', 'cronjobs/prod/there-is-none', 'cronjobs/prod/job-of-prod/slots']) {
    const answer = await dev(path);
    assert.equal(answer.status, 403, path);
    const { code, details, message } = answer.error();
    assert.equal(code, 'FORBIDDEN');
    assert.equal(message, 'You need the right to list cronjobs in prod');
    assert.deepEqual(details, { verb: 'list', resource: 'cronjobs', namespace: 'prod' });
  }
  assert.equal((await dev('cronjobs/dev/job-of-dev')).status, 200);
  assert.deepEqual((await dev('cronjobs/dev/job-of-dev/executions/x/logs')).error().details, {
    verb: 'get',
    resource: 'pods/log',
    namespace: 'dev',
  });
  assert.deepEqual((await dev('cronjobs/dev/job-of-dev/trigger', 'POST')).error().details, {
    verb: 'create',
    resource: 'jobs',
    namespace: 'dev',
  });
  assert.deepEqual((await dev('cronjobs/dev/job-of-dev/history', 'DELETE')).error().details, {
    verb: 'delete',
    resource: 'cronjobs',
    namespace: 'dev',
  });
  assert.deepEqual((await dev('config')).error().details, { verb: 'get', resource: '/api/v1/config', namespace: null });
  assert.deepEqual((await as(api, 'admin')('admin/storage-stats')).error().details, {
    verb: 'get',
    resource: '/api/v1/admin/storage-stats',
    namespace: null,
  });
  assert.equal((await as(api, 'admin')('config')).status, 200);
});

test('every endpoint of the contract asks what its caller may: none answers who may nothing, and none forgets to ask', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  // The key in the link of a drill is the right to acknowledge it.
  const open = ['/health', '/whoami', '/openapi.json', '/patterns/test', '/events/stream', '/drills/:id/acknowledge'];
  const values: Readonly<Record<string, string>> = {
    namespace: 'prod',
    name: 'job-of-prod',
    jobName: 'job-of-prod-1',
    id: '019ab2c4-0000-7000-8000-000000000000',
  };
  let asked = 0;
  for (const { method, path: pattern } of documentedRoutes) {
    if (open.some((end) => pattern.endsWith(end))) continue;
    const path = `/api/v1${pattern.replaceAll(/:(\w+)/g, (_whole, name: string) => values[name] ?? name)}`;
    const stranger = await api.ask(path, { method });
    assert.equal(stranger.status, 401, `${method} ${path}`);
    const nobody = await api.ask(path, { method, headers: { Authorization: 'Bearer nobody' } });
    const isEmptyList = nobody.status === 200 && method === 'GET' && !pattern.includes(':');
    // What has no namespace in its path is looked up or read before it is known where it belongs.
    const isRefused = [400, 403, 404].includes(nobody.status);
    assert.ok(isEmptyList || isRefused, `${method} ${path}: ${nobody.status} ${nobody.text}`);
    assert.doesNotMatch(nobody.text, /job-of-(prod|dev)"/);
    asked += 1;
  }
  assert.ok(asked > 30, `${asked} endpoints`);
});

test('logs and events of a run are withheld from who may not read logs', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  const list = (await as(api, 'dev')('cronjobs/dev/job-of-dev/executions')).json() as { items: { jobName: string }[] };
  const path = `cronjobs/dev/job-of-dev/executions/${list.items[0]?.jobName}`;
  assert.equal(((await as(api, 'dev')(path)).json() as { withheld: boolean }).withheld, true);
  assert.equal(((await as(api, 'admin')(path)).json() as { withheld: boolean }).withheld, false);
  const compared = (await as(api, 'dev')(`${path}/compare`)).json() as { withheld: boolean; log: unknown };
  assert.deepEqual([compared.withheld, compared.log], [true, null]);
});

test('a line of a log leaves for no caller who may not read logs there, by whatever answer', async () => {
  const { cluster, fleet } = await twoNamespaces();
  await using api = fleet;
  cluster.grant('half', 'list cronjobs', 'get pods/log in dev');
  for (const namespace of ['dev', 'prod']) {
    const cronJob = await api.addCronJob({ namespace, name: `failing-in-${namespace}` });
    const monitor = await api.addMonitor({ namespace, name: `of-${namespace}` }, [cronJob]);
    const [run] = await api.addRuns(cronJob, { status: 'failed', exitCode: 1 });
    assert.ok(run && monitor);
    const piece = {
      owner: run.jobUid,
      cronJobUid: cronJob.uid,
      createdAt: run.createdAt,
      capturedAt: run.createdAt,
      truncated: false,
      unavailable: undefined,
    };
    const body = JSON.stringify([
      { pod: 'p', container: 'main', number: 1, text: `secret of ${namespace}`, by: 'word' },
    ]);
    await putEvidence(api.store, api.epoch, [
      { ...piece, kind: 'logs', name: 'p/main', body: `secret of ${namespace}\n` },
      { ...piece, kind: 'decisive', name: '', body },
    ]);
  }
  const one = (namespace: string): string => `cronjobs/${namespace}/failing-in-${namespace}`;
  const paths = [
    'cronjobs',
    'grid',
    'wall',
    'timeline',
    one('dev'),
    `${one('dev')}/executions`,
    `${one('prod')}/executions`,
  ];
  const told = async (token: string): Promise<string[]> => {
    const answers = await Promise.all(paths.map((path) => as(api, token)(path)));
    return answers.map(({ text }) => ['dev', 'prod'].filter((name) => text.includes(`secret of ${name}`)).join());
  };
  const whole = ['dev,prod', 'dev,prod', 'dev,prod', 'dev,prod', 'dev', 'dev', 'prod'];
  assert.deepEqual(await told('admin'), whole);
  assert.deepEqual(await told('half'), ['dev', 'dev', 'dev', 'dev', 'dev', 'dev', '']);
  assert.deepEqual(await told('dev'), ['', '', '', '', '', '', '']);
  assert.deepEqual(await told('admin'), whole, 'what is shared was not changed');
});

test('whoami tells who calls and what they may do, in a namespace and in any', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  const whoami = async (token: string | undefined, query = '') => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const answer = await api.ask(`/api/v1/whoami${query}`, { headers });
    return answer.status === 200 ? (answer.json() as Whoami) : answer.error().code;
  };
  const can = (who: Awaited<ReturnType<typeof whoami>>) =>
    typeof who === 'string' ? who : abilities.filter((ability) => who.can[ability]);
  const stranger = await whoami(undefined);
  assert.ok(typeof stranger !== 'string');
  assert.deepEqual([stranger.mode, stranger.authenticated, stranger.user, can(stranger)], ['token', false, null, []]);
  assert.equal(await whoami('invented'), 'UNAUTHENTICATED');
  const dev = await whoami('dev', '?namespace=dev');
  assert.ok(typeof dev !== 'string');
  assert.deepEqual(dev.user, { name: 'dev', groups: ['system:authenticated'] });
  assert.deepEqual(can(dev), ['read', 'readMonitors', 'testPattern', 'suspend']);
  assert.deepEqual(can(await whoami('dev', '?namespace=prod')), ['testPattern']);
  assert.deepEqual(can(await whoami('dev')), ['read', 'readMonitors', 'testPattern', 'suspend']);
  assert.deepEqual(can(await whoami('admin')), [
    'read',
    'readLogs',
    'readMonitors',
    'readChannels',
    'testPattern',
    'readConfig',
  ]);
});

test('rights are asked for once and kept; names of namespaces that do not exist are not asked about', async () => {
  const { cluster, fleet } = await twoNamespaces();
  await using api = fleet;
  const dev = as(api, 'dev');
  await dev('cronjobs?namespace=a,b,c,prod');
  assert.deepEqual(cluster.asked, ['token dev', 'dev: list cronjobs', 'dev: list cronjobs in prod']);
  await dev('cronjobs?namespace=prod');
  await dev('timeline?namespace=prod');
  assert.equal(cluster.asked.length, 3);
  const text = await api.registry.metrics();
  assert.match(text, /api_reviews_total\{kind="token",result="allowed"\} 1/);
  assert.match(text, /api_reviews_total\{kind="token",result="cached"\} 2/);
  assert.match(text, /api_reviews_total\{kind="access",result="denied"\} 2/);
});

test('what is read with an identity is kept by the caller’s own cache alone', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  assert.equal((await as(api, 'dev')('cronjobs')).headers['cache-control'], 'private, no-cache');
});

test('every unsafe call leaves an audit line with who it was, refused ones too, and no token in any line', async () => {
  const { fleet } = await twoNamespaces();
  await using api = fleet;
  await as(api, 'dev')('cronjobs/prod/job-of-prod/suspend', 'POST');
  await as(api, 'invented-token')('cronjobs/prod/job-of-prod/suspend', 'POST');
  const lines = api.lines.filter(({ level }) => level === 'audit');
  assert.deepEqual(
    lines.map(({ fields }) => [fields['user'], fields['mode'], fields['outcome'], fields['code'], fields['action']]),
    [
      ['dev', 'token', 'refused', 'FORBIDDEN', 'POST /api/v1/cronjobs/{namespace}/{name}/suspend'],
      [null, 'token', 'refused', 'UNAUTHENTICATED', 'POST /api/v1/cronjobs/{namespace}/{name}/suspend'],
    ],
  );
  assert.ok(!JSON.stringify(api.lines).includes('invented-token'));
});

test('what changes nothing leaves no audit line, although its method could', async () => {
  const { cluster, fleet } = await twoNamespaces();
  cluster.grant('dev', 'create cronjobmonitors in dev');
  await using api = fleet;
  const pattern = { name: 'a', match: { exitCode: 1 }, suggestion: 'b' };
  const tried = await api.ask('/api/v1/patterns/test', {
    method: 'POST',
    headers: { Authorization: 'Bearer dev' },
    body: { pattern },
  });
  assert.equal(tried.status, 200, tried.text);
  const previewed = await api.ask('/api/v1/monitors/preview', {
    method: 'POST',
    headers: { Authorization: 'Bearer dev' },
    body: { namespace: 'dev', spec: {} },
  });
  assert.equal(previewed.status, 200, previewed.text);
  assert.deepEqual(
    api.lines.filter(({ level }) => level === 'audit'),
    [],
  );
});

/** Headers that a proxy on loopback sets. */
const proxied = {
  ...testSettings.auth,
  proxy: { ...testSettings.auth.proxy, peers: ['127.0.0.0/8'] },
};

test('in mode proxy the proxy says who calls, and the cluster what they may do', async () => {
  const { cluster, fleet } = await twoNamespaces({ settings: { authMode: 'proxy', auth: proxied } });
  await using api = fleet;
  const ask = (headers: Record<string, string | string[]>, path = 'cronjobs') =>
    api.ask(`/api/v1/${path}`, { headers });
  assert.deepEqual(namesOf(await ask({ 'X-Forwarded-User': 'dev', 'X-Forwarded-Groups': 'a, b' })), ['job-of-dev']);
  const { user } = (
    await ask({ 'X-Forwarded-User': 'zo\u00c3\u00ab', 'X-Forwarded-Groups': 'a,, b' }, 'whoami')
  ).json() as Whoami;
  assert.deepEqual(user, { name: 'zoë', groups: ['a', 'b', 'system:authenticated'] });
  assert.equal((await ask({})).status, 401);
  assert.equal((await ask({ 'X-Forwarded-User': ' ' })).status, 401);
  assert.equal((await ask({ 'X-Forwarded-User': ['dev', 'admin'] })).status, 401, 'two users: one is smuggled');
  assert.equal((await ask({ Authorization: 'Bearer admin' })).status, 401, 'a token is nothing here');
  assert.ok(!cluster.asked.some((question) => question.startsWith('token')));
});

test('the browser is told to keep to TLS only by a proxy that is believed, and only where it was reached so', async () => {
  const headers = { 'X-Forwarded-Proto': 'https' };
  const strict = async (settings: Parameters<typeof startFleet>[0], sent: Record<string, string>) => {
    const { fleet } = await twoNamespaces(settings);
    await using api = fleet;
    return (await api.ask('/api/v1/whoami', { headers: sent })).headers['strict-transport-security'];
  };
  const believed = { settings: { authMode: 'proxy', auth: proxied } } as const;
  assert.equal(await strict(believed, headers), 'max-age=31536000');
  assert.equal(await strict(believed, {}), undefined);
  const elsewhere = { ...proxied, proxy: { ...proxied.proxy, peers: ['10.0.0.0/8'] } };
  assert.equal(await strict({ settings: { authMode: 'proxy', auth: elsewhere } }, headers), undefined);
  assert.equal(await strict({}, headers), undefined);
});

test('in mode proxy a caller that is not the proxy is not believed', async () => {
  const elsewhere = { ...proxied, proxy: { ...proxied.proxy, peers: ['10.0.0.0/8'] } };
  const { cluster, fleet } = await twoNamespaces({ settings: { authMode: 'proxy', auth: elsewhere } });
  await using api = fleet;
  for (const path of ['cronjobs', 'whoami']) {
    const answer = await api.ask(`/api/v1/${path}`, { headers: { 'X-Forwarded-User': 'admin' } });
    assert.equal(answer.status, 401, path);
  }
  assert.equal((await api.ask('/api/v1/whoami')).status, 200);
  assert.deepEqual(cluster.asked, []);
});
