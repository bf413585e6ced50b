import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { aCronJob, paths } from '../cluster/kube-objects.ts';
import { apiRequest, type ApiAnswer } from '../realcluster/api-request.ts';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import { MonitorProcess } from '../servers/index.ts';

const started = await startRealCluster();

const shop = 'shop';
const bank = 'bank';
const own = 'monitoring';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const rbacVersion = 'rbac.authorization.k8s.io/v1';

/** What the service's own account may do, but for what changes workloads. */
const serviceRules = [
  { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list', 'create'] },
  {
    apiGroups: ['cronjob-monitor.io'],
    resources: ['cronjobmonitors', 'alertchannels'],
    verbs: ['get', 'list', 'watch'],
  },
  {
    apiGroups: ['cronjob-monitor.io'],
    resources: ['cronjobmonitors/status', 'alertchannels/status'],
    verbs: ['patch'],
  },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] },
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];
const writeRules = [
  { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['patch'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create'] },
];
/** A user who works in the shop, and one who only looks. */
const workerRules = [
  { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['list', 'patch'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
];
const watcherRules = [{ apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['list'] }];
const scraperRules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];

/** The service beside a real API server with RBAC on, as an account with just its rights. */
describe('access on a real cluster', { skip: 'skipped' in started && `Go: ${started.skipped}` }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-access-'));
  let service: MonitorProcess;
  let worker = '';
  let watcher = '';
  let scraper = '';

  const create = async (path: string, body: object): Promise<ApiAnswer['body']> => {
    const answer = await cluster.request('POST', path, { body });
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const account = async (namespace: string, name: string): Promise<void> => {
    await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  };
  const tokenOf = async (namespace: string, name: string, audiences?: readonly string[]): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { spec: { expirationSeconds: 3600, ...(audiences && { audiences }) } };
    return (await create(path, body)).status.token;
  };
  const subjectOf = (namespace: string, name: string) => [{ kind: 'ServiceAccount', namespace, name }];
  const grant = async (
    name: string,
    given: { readonly rules: readonly object[]; readonly to: readonly [string, string]; readonly in?: string },
  ): Promise<void> => {
    const kind = given.in === undefined ? 'ClusterRole' : 'Role';
    const base = given.in === undefined ? rbac : `${rbac}/namespaces/${given.in}`;
    const path = `${base}/${kind.toLowerCase()}`;
    await create(`${path}s`, { apiVersion: rbacVersion, kind, metadata: { name }, rules: given.rules });
    await create(`${path}bindings`, {
      apiVersion: rbacVersion,
      kind: `${kind}Binding`,
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: subjectOf(...given.to),
    });
  };
  const ask = (path: string, token?: string, method = 'GET'): Promise<ApiAnswer> =>
    apiRequest({ url: service.api, token }, method, `/api/v1/${path}`);
  const kubeCronJob = async (): Promise<ApiAnswer['body']> =>
    (await cluster.request('GET', paths.cronJobs(shop, 'target'))).body;
  const one = `cronjobs/${shop}/target`;

  before(async () => {
    await cluster.applyCrds();
    for (const namespace of [own, shop, bank]) await create('/api/v1/namespaces', { metadata: { name: namespace } });
    await account(own, 'cronjob-monitor');
    await account(own, 'prometheus');
    await account(shop, 'worker');
    await account(shop, 'watcher');
    await grant('cronjob-monitor', { rules: serviceRules, to: [own, 'cronjob-monitor'] });
    await grant('cronjob-monitor-writes', { rules: writeRules, to: [own, 'cronjob-monitor'] });
    await grant('worker', { rules: workerRules, to: [shop, 'worker'], in: shop });
    await grant('watcher', { rules: watcherRules, to: [shop, 'watcher'], in: shop });
    await grant('scraper', { rules: scraperRules, to: [own, 'prometheus'] });
    worker = await tokenOf(shop, 'worker');
    watcher = await tokenOf(shop, 'watcher');
    scraper = await tokenOf(own, 'prometheus');

    for (const namespace of [shop, bank]) {
      const play = { outcome: 'success', seconds: '60', log: 'the first line of the log\nthe last line\n' };
      await create(paths.cronJobs(namespace), aCronJob('target', { play }));
      await create(paths.monitors(namespace), {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: 'everything' },
        spec: {},
      });
    }
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'real',
        contexts: [{ name: 'real', context: { cluster: 'real', user: 'service', namespace: own } }],
        clusters: [{ name: 'real', cluster: { server: cluster.url, 'certificate-authority': cluster.caFile } }],
        users: [{ name: 'service', user: { token: await tokenOf(own, 'cronjob-monitor') } }],
      }),
    );
    service = await MonitorProcess.prepare({
      entryPoint: 'standalone',
      kubeconfig,
      storage: { type: 'sqlite', path: join(folder, 'monitor.db') },
      config: { 'auth.mode': 'token', 'metrics.secure': true },
    });
    await service.startReady();
    await service.until('the shop is known', async () => {
      const { status, body } = await ask('cronjobs', worker);
      return status === 200 && body.items.length === 1;
    });
  });
  after(async () => {
    await service?.remove();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('tokens of the cluster say who calls, others nothing', async () => {
    const { user, can } = (await ask(`whoami?namespace=${shop}`, worker)).body;
    assert.equal(user.name, `system:serviceaccount:${shop}:worker`);
    assert.ok(user.groups.includes('system:authenticated'));
    const granted = Object.keys(can).filter((ability) => can[ability]);
    // The last one by the role system:discovery, which lets every known user get what lies below /api.
    assert.deepEqual(granted, ['read', 'readLogs', 'testPattern', 'trigger', 'suspend', 'readConfig']);
    assert.equal((await ask('admin/prune', worker, 'POST')).status, 403, 'post is not among it');
    assert.equal((await ask('cronjobs', 'invented')).status, 401);
    const elsewhere = await tokenOf(shop, 'worker', ['https://another.service']);
    assert.equal((await ask('cronjobs', elsewhere)).status, 401, 'a token that is meant for another service');
  });

  test('lists hold one namespace, the other is 403 with what is missing', async () => {
    for (const token of [worker, watcher]) {
      const { items } = (await ask('cronjobs', token)).body;
      assert.deepEqual(
        items.map(({ namespace }: { namespace: string }) => namespace),
        [shop],
      );
      const { status, body } = await ask(`cronjobs/${bank}/target`, token);
      assert.equal(status, 403);
      assert.deepEqual(body.error.details, { verb: 'list', resource: 'cronjobs', namespace: bank });
    }
  });

  test('suspend and resume reach the cluster for who may patch CronJobs, and write nothing twice', async () => {
    const refused = await ask(`${one}/suspend`, watcher, 'POST');
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body.error.details, { verb: 'patch', resource: 'cronjobs', namespace: shop });
    for (const [action, suspended] of [
      ['suspend', true],
      ['resume', false],
    ] as const) {
      const first = await ask(`${one}/${action}`, worker, 'POST');
      assert.deepEqual([first.status, first.body.suspended, first.body.changed], [200, suspended, true]);
      const { spec, metadata } = await kubeCronJob();
      assert.equal(spec.suspend, suspended);
      const again = await ask(`${one}/${action}`, worker, 'POST');
      assert.deepEqual([again.status, again.body.changed], [200, false]);
      assert.equal((await kubeCronJob()).metadata.resourceVersion, metadata.resourceVersion);
    }
  });

  test('a trigger makes a Job of the CronJob in the name of its caller, whose log is read while it runs', async () => {
    const refused = await ask(`${one}/trigger`, watcher, 'POST');
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body.error.details, { verb: 'create', resource: 'jobs', namespace: shop });
    const { status, body } = await ask(`${one}/trigger`, worker, 'POST');
    assert.equal(status, 200, JSON.stringify(body));
    const job = (await cluster.request('GET', paths.jobs(shop, body.jobName))).body;
    const cronJob = await kubeCronJob();
    assert.deepEqual(
      job.metadata.ownerReferences.map(({ kind, name, uid }: Record<string, unknown>) => [kind, name, uid]),
      [['CronJob', 'target', cronJob.metadata.uid]],
    );
    const { annotations } = job.metadata;
    assert.equal(annotations['cronjob.kubernetes.io/instantiate'], 'manual');
    assert.equal(annotations['cronjob-monitor.io/triggered-by'], `system:serviceaccount:${shop}:worker`);

    const logs = `${one}/executions/${body.jobName}/logs?source=live`;
    await service.until('its log is there', async () => (await ask(logs, worker)).status === 200);
    const log = (await ask(`${logs}&tailLines=1`, worker)).body;
    assert.deepEqual([log.source, log.logs, log.truncated], ['live', 'the last line\n', true]);
    const withheld = await ask(logs, watcher);
    assert.equal(withheld.status, 403);
    assert.deepEqual(withheld.body.error.details, { verb: 'get', resource: 'pods/log', namespace: shop });
  });

  test('each unsafe call is in the log of the service with its caller', async () => {
    const lines = service.said('Unsafe call').map(({ user, outcome, action }) => [user, outcome, action]);
    const action = 'POST /api/v1/cronjobs/{namespace}/{name}/trigger';
    assert.ok(lines.some((line) => line.join() === `system:serviceaccount:${shop}:worker,done,${action}`));
    assert.ok(lines.some((line) => line.join() === `system:serviceaccount:${shop}:watcher,refused,${action}`));
  });

  test('metrics are for those who may get /metrics, by HTTPS alone', async () => {
    const scrape = (token?: string): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const url = new URL('/metrics', service.metrics.replace('http:', 'https:'));
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        // The certificate is of its own making: who scrapes it so does not look at it either.
        httpsRequest(url, { headers, rejectUnauthorized: false, agent: false }, (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        })
          .on('error', reject)
          .end();
      });
    assert.equal((await scrape()).status, 401);
    assert.equal((await scrape('invented')).status, 401);
    assert.equal((await scrape(worker)).status, 403);
    const { status, text } = await scrape(scraper);
    assert.equal(status, 200);
    assert.match(text, /^cronjob_monitor_api_reviews_total\{kind="token",result="allowed"\} [1-9]/m);
    assert.match(
      text,
      /^cronjob_monitor_kube_requests_total\{verb="create",resource="tokenreviews",code="201"\} [1-9]/m,
    );
    assert.match(text, /^cronjob_monitor_db_up 1$/m);
    await assert.rejects(fetch(`${service.metrics}/metrics`), 'plain HTTP is cut');
  });

  test('installed without the rights to write, actions say which right the service lacks', async () => {
    await cluster.request('DELETE', `${rbac}/clusterrolebindings/cronjob-monitor-writes`);
    const refused = async (action: string): Promise<ApiAnswer> => {
      let answer = await ask(`${one}/${action}`, worker, 'POST');
      await service.until('the right is gone', async () => {
        answer = await ask(`${one}/${action}`, worker, 'POST');
        return answer.status === 403;
      });
      return answer;
    };
    const suspend = await refused('suspend?');
    assert.equal(suspend.body.error.code, 'CLUSTER_FORBIDDEN');
    assert.deepEqual(suspend.body.error.details, { verb: 'patch', resource: 'cronjobs', namespace: shop });
    const trigger = await refused('trigger?force=true');
    assert.equal(trigger.body.error.code, 'CLUSTER_FORBIDDEN');
    assert.deepEqual(trigger.body.error.details, { verb: 'create', resource: 'jobs', namespace: shop });
    assert.equal((await ask(one, worker)).status, 200, 'reading goes on');
  });

  test('an account that is deleted is shut out with every token that was not reviewed a moment ago', async () => {
    const unseen = await tokenOf(shop, 'watcher');
    await cluster.request('DELETE', `/api/v1/namespaces/${shop}/serviceaccounts/watcher`);
    await service.until('it is shut out', async () => (await ask('cronjobs', unseen)).status === 401);
    assert.equal((await ask('cronjobs', worker)).status, 200);
  });

  test('while the API server stands still, what is not kept is closed: 503', async () => {
    const unseen = await tokenOf(shop, 'worker');
    await cluster.stopApiServer({ kill: true });
    await service.until('the door is closed', async () => {
      const { status, body } = await ask(one, unseen);
      return status === 503 && body.error.code === 'REVIEW_UNAVAILABLE';
    });
    assert.equal((await ask('health')).status, 200);
    await cluster.startApiServer();
    await service.until('the door is open', async () => (await ask(one, unseen)).status === 200);
  });
});
