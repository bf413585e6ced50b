import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Alert, AlertList, CronJobDetail, MonitorDetail } from '@cronjob-monitor/shared/contract';
import { aCronJob, jobSpec, paths } from '../cluster/kube-objects.ts';
import { apiRequest } from '../realcluster/api-request.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { findStage, hasty } from './alerting/stage.ts';

const config = { ...hasty, scheduler: { 'startup-grace-period': '1s' }, owners: { label: 'team' } };
const shop = 'shop';
const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${shop}`;
const failing = 'alert.firing jobFailed';

const stage = await findStage('sqlite');

describe('owners speak for their CronJobs, on a real cluster with RBAC', { skip: stage.skip }, () => {
  const { cluster } = stage;
  let scene: Scene;
  let tenant = '';
  let runs = 0;

  before(async () => {
    scene = await stage.begin(config);
    const annotations = { 'cronjob-monitor.io/monitored-from': namespace };
    await scene.create('/api/v1/namespaces', { metadata: { name: shop, annotations } });
    tenant = await aTenant();
  });
  after(async () => {
    await stage.end(scene);
  });

  test('no edit of a CronJob reaches a channel that does not admit its namespace', async () => {
    const admitted = { 'shop-chat': [namespace, shop], 'data-chat': [namespace, 'data'], open: undefined };
    await scene.webhook('on-call');
    for (const [name, allowedNamespaces] of Object.entries(admitted)) await aChannel(name, allowedNamespaces);
    await scene.create(paths.monitors(namespace), {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'all' },
      spec: {
        selector: { namespaces: [shop] },
        alerting: {
          suppressDuplicatesFor: '0s',
          channelRefs: [{ name: 'on-call' }],
          routes: [
            { name: 'label', when: { labels: { tier: 'data' } }, channels: ['data-chat'] },
            { name: 'owner', channels: ['{{ .Owner }}-chat'] },
          ],
        },
      },
    });
    const made = await asTenant('POST', paths.cronJobs(shop), aCronJob('till'));
    assert.equal(made, 201);
    await scene.service.until('it is watched', async () => (await detail())?.monitors.length === 1);

    for (const metadata of [
      { annotations: { 'cronjob-monitor.io/channel': 'data-chat, open' } },
      { annotations: { 'cronjob-monitor.io/channel': null, 'cronjob-monitor.io/owner': 'data' } },
      { annotations: { 'cronjob-monitor.io/owner': null }, labels: { team: 'data', tier: 'data' } },
    ])
      await edited(metadata);
    assert.deepEqual(scene.heard('on-call'), [failing, failing, failing], 'the monitor itself tells on');
    await edited({ labels: { team: 'shop', tier: null } });
    await scene.untilHeard('shop-chat', [failing]);
    await edited({ annotations: { 'cronjob-monitor.io/channel': 'shop-chat' }, labels: { team: 'data' } });
    await scene.untilHeard('shop-chat', [failing, failing]);
    assert.deepEqual([scene.heard('data-chat'), scene.heard('open')], [[], []]);

    for (const [method, path, body] of [
      ['PATCH', '/apis/cronjob-monitor.io/v1alpha1/alertchannels/data-chat', { spec: { allowedNamespaces: ['*'] } }],
      ['PATCH', paths.monitors(namespace, 'all'), { spec: { allowOverrides: [] } }],
      ['GET', `/api/v1/namespaces/${namespace}/secrets/data-chat`, undefined],
      ['PATCH', paths.cronJobs(namespace, 'till'), { metadata: {} }],
    ] as const)
      assert.equal(await asTenant(method, path, body), 403, path);
  });

  test('what an owner says is in force within a moment, and who said it is shown', async () => {
    await edited({
      annotations: {
        'cronjob-monitor.io/severity': 'critical',
        'cronjob-monitor.io/grace': '5',
        'cronjob-monitor.io/channel': null,
      },
    });
    const last = scene.told('on-call').at(-1);
    assert.equal(last?.data.alert.severity, 'critical');
    const { settings = [], annotationProblems = [] } = (await detail()) ?? {};
    const severity = settings.find(({ field }) => field === 'alerting.severityOverrides');
    assert.deepEqual([severity?.value, severity?.source, severity?.object], ['critical', 'CronJob', 'shop/till']);
    assert.deepEqual(annotationProblems, ['shop/till: grace: 5 is no duration; such as 5m']);
    await scene.service.until('an Event says so', async () => {
      const query = '?fieldSelector=reason%3DInvalidAnnotation';
      const { body } = await cluster.request('GET', `/api/v1/namespaces/${shop}/events${query}`);
      const told = body.items.map(
        ({ involvedObject, message }: { involvedObject: { name: string }; message: string }) =>
          `${involvedObject.name}: ${message}`,
      );
      const sentence = 'The annotation cronjob-monitor.io/grace: 5 is no duration; such as 5m. It counts as absent.';
      return told.join() === `till: ${sentence}`;
    });

    await asTenant('PATCH', paths.cronJobs(shop, 'till'), {
      metadata: { annotations: { 'cronjob-monitor.io/ignore': 'true' } },
    });
    await scene.service.until('it is left out', async () => {
      const { summary } = await scene.service.ask<{ summary: { ignored: number } }>('/api/v1/coverage');
      return summary.ignored === 1;
    });
  });

  test('a monitor that a tenant writes reaches no channel and no CronJob of another tenant', async () => {
    const annotations = { 'cronjob-monitor.io/monitored-from': namespace };
    await scene.create('/api/v1/namespaces', { metadata: { name: 'data', annotations } });
    await scene.create(paths.cronJobs('data'), aCronJob('ledger'));
    await scene.create(paths.monitors(namespace), {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'of-data' },
      spec: { selector: { namespaces: ['data'] }, alerting: { channelRefs: [{ name: 'on-call' }] } },
    });
    const ofData = ['data/ledger'];
    const spec = {
      selector: { namespaces: [shop, 'data'] },
      dependsOn: ofData,
      expects: { names: ofData },
      alerting: {
        channelRefs: [{ name: 'shop-chat' }, { name: 'data-chat' }, { name: 'open' }],
        routes: [{ name: 'all', channels: ['data-chat'] }],
        suppressDuplicatesFor: '0s',
      },
    };
    const apiVersion = 'cronjob-monitor.io/v1alpha1';
    const monitor = { apiVersion, kind: 'CronJobMonitor', metadata: { name: 'mine' }, spec };
    assert.equal(await asTenant('POST', paths.monitors(shop), monitor), 201);
    const path = `/api/v1/monitors/${shop}/mine`;
    const read = () => scene.service.ask<MonitorDetail>(path).catch(() => undefined);
    await scene.service.until('it is judged', async () => {
      const found = await read();
      return found?.conditions.some(({ type }) => type === 'ChannelsResolved') === true;
    });
    assert.equal(await asTenant('POST', paths.cronJobs(shop), aCronJob('scale')), 201);
    await scene.service.until('it watches its own', async () => (await read())?.totalCronJobs === 1);
    const resolved = (await read())?.conditions.find(({ type }) => type === 'ChannelsResolved');
    assert.deepEqual([resolved?.status, resolved?.reason], ['False', 'ChannelNotAllowed']);

    const before = scene.heard('shop-chat').length;
    const ofOnCall = scene.heard('on-call').length;
    assert.equal(await failed('data', 'ledger', (...of) => cluster.request(...of).then(({ status }) => status)), 201);
    await scene.service.until('that of the other is told', () => scene.heard('on-call').length > ofOnCall);
    assert.equal(await failed(shop, 'scale', (method, to, { body }) => asTenant(method, to, body)), 201);
    await scene.service.until('its own failure is told', () => scene.heard('shop-chat').length > before);
    const told = scene.told('shop-chat').slice(before);
    assert.deepEqual(
      told.map(({ data }) => data.cronjob),
      [{ ...told[0]?.data.cronjob, namespace: shop, name: 'scale' }],
      'it waits for no CronJob of another tenant, and tells of none',
    );
    assert.deepEqual([scene.heard('data-chat'), scene.heard('open').length], [[], 1]);
    const { items } = await scene.service.ask<AlertList>('/api/v1/alerts?namespace=data');
    assert.deepEqual(
      items.map(({ monitor }) => monitor),
      [{ namespace, name: 'of-data' }],
    );
  });

  test('the API server refuses what cannot work, and says why', async () => {
    const alerting = { routes: [{ name: 'node', channels: ['on-call'], fold: true }] };
    const { status, body } = await cluster.request('POST', paths.monitors(namespace), {
      body: {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: 'folding' },
        spec: { alerting },
      },
    });
    assert.deepEqual([status, /fold needs when\.causes/.test(body.message)], [422, true]);
  });

  test('a node that is drained is one message to the platform about 40 CronJobs, and none to those who own them', async () => {
    await scene.webhook('platform');
    await scene.webhook('apps');
    const labels = { fleet: 'drained' };
    await scene.create(paths.monitors(namespace), {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'drained' },
      spec: {
        selector: { matchLabels: labels },
        alerting: {
          channelRefs: [{ name: 'apps' }],
          routes: [
            { name: 'platform', when: { causes: ['platform'] }, channels: ['platform'], fold: true, instead: true },
          ],
        },
      },
    });
    const names = Array.from({ length: 40 }, (_, number) => `drained-${number}`);
    for (const name of names) await scene.create(paths.cronJobs(namespace), aCronJob(name, { labels }));
    await scene.untilWatched(...names);
    const jobs = new Set<unknown>();
    for (const name of names) jobs.add(await scene.run(name, 'hang', { pod: { nodeName: 'node-3' } }));
    const evicted = new Set<string>();
    await scene.service.until('every pod of the node is evicted', async () => {
      const { body } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/pods`);
      const pods: { metadata: { name: string; labels: Record<string, string> }; status: { phase: string } }[] =
        body.items;
      for (const { metadata, status } of pods) {
        if (!jobs.has(metadata.labels['job-name']) || status.phase !== 'Running' || evicted.has(metadata.name))
          continue;
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata.name, namespace } };
        const path = `/api/v1/namespaces/${namespace}/pods/${metadata.name}/eviction`;
        if ((await cluster.request('POST', path, { body: eviction })).status === 201) evicted.add(metadata.name);
      }
      return evicted.size === names.length;
    });
    const told = async (): Promise<Alert[]> => {
      const { items } = await scene.service.ask<AlertList>('/api/v1/alerts?cause=platform&limit=100');
      return items.filter(({ told: { state } }) => state === 'sent');
    };
    await scene.service.until('all are told', async () => (await told()).length === names.length);
    assert.deepEqual([...new Set((await told()).map(({ scope }) => scope))], ['node node-3']);
    assert.deepEqual(
      [...new Set((await told()).map(({ told: { reason, channels } }) => `${reason} ${channels[0]?.channel}`))],
      ['instead platform'],
    );
    assert.deepEqual(
      scene.told('platform').map(({ kind }) => kind),
      ['alert.digest'],
    );
    assert.deepEqual(scene.told('apps'), []);
  });

  /** An account of the namespace that may do everything with its CronJobs, Jobs and monitors, and nothing else. Its token. */
  async function aTenant(): Promise<string> {
    const account = `/api/v1/namespaces/${shop}/serviceaccounts`;
    await scene.create(account, { metadata: { name: 'dev' } });
    const rules = [
      { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'], verbs: ['*'] },
      { apiGroups: ['cronjob-monitor.io'], resources: ['cronjobmonitors'], verbs: ['*'] },
    ];
    await scene.create(`${rbac}/roles`, { metadata: { name: 'dev' }, rules });
    await scene.create(`${rbac}/rolebindings`, {
      metadata: { name: 'dev' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'dev' },
      subjects: [{ kind: 'ServiceAccount', namespace: shop, name: 'dev' }],
    });
    const { body } = await cluster.request('POST', `${account}/dev/token`, { body: { spec: {} } });
    return body.status.token as string;
  }

  /** A run of the CronJob that fails, made by who asks so. */
  async function failed(
    where: string,
    cronJob: string,
    ask: (method: string, path: string, of: { readonly body: object }) => Promise<number>,
  ): Promise<number> {
    const { body: owner } = await cluster.request('GET', paths.cronJobs(where, cronJob));
    const { uid } = owner.metadata as { uid: string };
    const reference = { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob, uid, controller: true };
    const metadata = {
      name: `${cronJob}-${(runs += 1)}`,
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [reference],
    };
    const spec = jobSpec({ play: { outcome: 'exit:1', seconds: '1' } });
    return ask('POST', paths.jobs(where), { body: { apiVersion: 'batch/v1', kind: 'Job', metadata, spec } });
  }

  async function asTenant(method: string, path: string, body?: object): Promise<number> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { url, ca } = cluster;
    return (await apiRequest({ url, ca, token: tenant }, method, path, { contentType, ...(body && { body }) })).status;
  }

  async function aChannel(name: string, allowedNamespaces: readonly string[] | undefined): Promise<void> {
    await scene.secret(name, { url: `${scene.hook.url}/${name}` });
    const webhook = { urlSecretRef: { name, namespace, key: 'url' } };
    await scene.channel(name, { type: 'webhook', webhook, ...(allowedNamespaces && { allowedNamespaces }) });
  }

  /** The tenant edits its CronJob, and a run of it fails: returns when `on-call` has heard of that. */
  async function edited(metadata: object): Promise<void> {
    assert.equal(await asTenant('PATCH', paths.cronJobs(shop, 'till'), { metadata }), 200);
    const { body: owner } = await cluster.request('GET', paths.cronJobs(shop, 'till'));
    const seen = owner.metadata.resourceVersion as string;
    // What the service has seen of the CronJob is in its answer.
    const expected = JSON.stringify(owner.metadata.annotations ?? {}) + JSON.stringify(owner.metadata.labels ?? {});
    await scene.service.until(`the edit ${seen} is seen`, async () => wasSeen(expected));
    const before = scene.heard('on-call').length;
    assert.equal(await failed(shop, 'till', (method, to, { body }) => asTenant(method, to, body)), 201);
    await scene.service.until('its failure is told', () =>
      Promise.resolve(scene.heard('on-call').length === before + 1),
    );
  }

  /** The row of the CronJob holds what its metadata say. */
  async function wasSeen(metadata: string): Promise<boolean> {
    const owner = /"(?:cronjob-monitor\.io\/owner|team)":"(\w+)"/.exec(metadata)?.[1] ?? null;
    const channel = /"cronjob-monitor\.io\/channel":"([^"]+)"/.exec(metadata)?.[1] ?? null;
    const { owner: shown, settings = [] } = (await detail()) ?? {};
    const routes = settings.find(({ field }) => field === 'alerting.routes');
    const named = routes?.source === 'CronJob' ? routes.value : null;
    return shown === owner && named === channel;
  }

  async function detail(): Promise<CronJobDetail | undefined> {
    return scene.service.ask<CronJobDetail>(`/api/v1/cronjobs/${shop}/till`).catch(() => undefined);
  }
});
