import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Alert, AlertList } from '@cronjob-monitor/shared/contract';
import { aCronJob, jobSpec, paths, type JobShape } from '../cluster/kube-objects.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { findStage, hasty } from './alerting/stage.ts';

const registry = 'registry.example.com';
const image = `${registry}/team/report:1.4`;
/** What containerd says of a registry that answers so. */
const unavailable =
  `failed to resolve reference "${image}": unexpected status from HEAD request to ` +
  `https://${registry}/v2/team/report/manifests/1.4: 503 Service Unavailable`;

/** Ten CronJobs each, of which a run goes wrong by what a part of Kubernetes does. */
const groups = {
  tainted: { cause: 'platform', scope: 'node node-2', where: namespace, shape: running('node-2') },
  unpulled: {
    cause: 'platform',
    scope: `registry ${registry}`,
    where: namespace,
    shape: {
      play: { outcome: 'imagepull', 'pull-error': unavailable },
      pod: { nodeName: 'node-1', containers: [{ name: 'main', image }] },
    },
  },
  unadmitted: { cause: 'capacity', scope: 'namespace small', where: 'small', shape: {} },
  insecure: { cause: 'configuration', scope: null, where: 'strict', shape: {} },
} as const satisfies Readonly<Record<string, Group>>;
const names = (group: string): string[] => Array.from({ length: 10 }, (_, number) => `${group}-${number}`);

interface Group {
  readonly cause: string;
  readonly scope: string | null;
  readonly where: string;
  readonly shape: JobShape;
}

function running(nodeName: string): JobShape {
  return { play: { outcome: 'hang' }, pod: { nodeName } };
}

const stage = await findStage('sqlite');

describe('whose fault it is, by what the parts of a real cluster say', { skip: stage.skip }, () => {
  const { cluster } = stage;
  let scene: Scene;
  let alerts: readonly Alert[];

  before(async () => {
    // On a busy machine events may take longer than the 250 ms that a message waits by default.
    scene = await stage.begin({ ...hasty, evidence: { 'message-wait': '10s' } });
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await aNamespace('small', {});
    await aNamespace('strict', labels);
    await noRoomIn('small');
    for (const channel of ['platform', 'capacity']) await scene.webhook(channel);
    await scene.secret('apps', { url: `${scene.hook.url}/apps` });
    const webhook = { urlSecretRef: { name: 'apps', namespace, key: 'url' } };
    await scene.channel('apps', {
      type: 'webhook',
      webhook,
      rateLimiting: { maxAlertsPerHour: 1_000, burstLimit: 100 },
    });
    const spec = {
      selector: { matchLabels: { fleet: 'all' }, namespaces: [namespace, 'small', 'strict'] },
      stuckJobs: { notStartedAfter: '20s' },
      alerting: {
        channelRefs: [{ name: 'apps' }],
        routes: [
          { name: 'platform', when: { causes: ['platform'] }, channels: ['platform'], fold: true, instead: true },
          { name: 'capacity', when: { causes: ['capacity'] }, channels: ['capacity'], fold: true },
        ],
      },
    };
    const apiVersion = 'cronjob-monitor.io/v1alpha1';
    const monitor = { apiVersion, kind: 'CronJobMonitor', metadata: { name: 'all' }, spec };
    await scene.create(paths.monitors(namespace), monitor);
    for (const [group, { where }] of Object.entries(groups))
      for (const name of names(group))
        await scene.create(paths.cronJobs(where), aCronJob(name, { labels: { fleet: 'all' } }));
    await scene.service.until('all are watched', async () => {
      const { pagination } = await scene.service.ask<AlertList>('/api/v1/cronjobs?monitor=prod/all&limit=1');
      return pagination?.total === 40;
    });
    for (const [group, of] of Object.entries(groups)) for (const name of names(group)) await start(name, of);
    await untilRunning(names('tainted'));
    await taint('node-2');
    await scene.service
      .until('each has an alert', async () => (await read()).length === 40, 120_000)
      .catch(async (error) => {
        const found = (await read()).map(
          ({ cronjob, type, subject, cause }) => `${cronjob.name} ${type} ${subject} ${cause}`,
        );
        throw new Error(found.toSorted().join('\n'), { cause: error });
      });
    alerts = await read();
    await scene.service.until(
      'all are told',
      async () => (await read()).every(({ told }) => told.state === 'sent'),
      120_000,
    );
    alerts = await read();
    await wait(3_000);
  });
  after(async () => {
    await stage.end(scene);
  });

  for (const [says, group] of [
    ['the taint manager takes pods from their node: platform, and the node', 'tainted'],
    ['a registry answers 503: platform, and the registry', 'unpulled'],
    ['a quota leaves no room: capacity, and the namespace', 'unadmitted'],
    ['PodSecurity admits no pod: configuration', 'insecure'],
  ] as const)
    test(says, () => {
      const { cause, scope } = groups[group];
      assert.deepEqual(
        faultsOf(group),
        names(group).map(() => [cause, scope]),
      );
    });

  test('the platform has one message for each of its faults, and the apps none about those', () => {
    assert.deepEqual(
      scene.told('platform').map(({ kind }) => kind),
      ['alert.digest', 'alert.digest'],
    );
    const groupsTold = scene.told('apps').map(({ data }) => data.cronjob.name.replace(/-\d+$/, ''));
    assert.deepEqual(
      groupsTold.toSorted(),
      ['insecure', 'unadmitted'].flatMap((group) => names(group).map(() => group)),
    );
  });

  test('a full namespace is one message to those who give room, besides what its owners hear', () => {
    assert.deepEqual(
      scene.told('capacity').map(({ kind }) => kind),
      ['alert.digest'],
    );
  });

  test('an app is told with its message what the cluster says of its pods', () => {
    for (const { data } of scene.told('apps')) {
      const words = data.cronjob.name.startsWith('unadmitted') ? /exceeded quota/ : /violates PodSecurity/;
      assert.match(data.alert.message, words, data.cronjob.name);
    }
  });

  function faultsOf(group: string): (string | null)[][] {
    return alerts
      .filter(({ cronjob: { name } }) => name.startsWith(`${group}-`))
      .map(({ cause, scope }) => [cause, scope]);
  }

  async function read(): Promise<readonly Alert[]> {
    return (await scene.service.ask<AlertList>('/api/v1/alerts?limit=100&state=pending,active,suppressed')).items;
  }

  async function aNamespace(name: string, labels: object): Promise<void> {
    const annotations = { 'cronjob-monitor.io/monitored-from': namespace };
    await scene.create('/api/v1/namespaces', { metadata: { name, labels, annotations } });
  }

  /** Returns once the quota is in force. */
  async function noRoomIn(where: string): Promise<void> {
    const path = `/api/v1/namespaces/${where}/resourcequotas`;
    await scene.create(path, { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } });
    await scene.service.until('the quota is in force', async () => {
      const { body } = await cluster.request('GET', `${path}/none`);
      return body.status?.used?.pods === '0';
    });
  }

  async function start(cronJob: string, { where, shape }: Group): Promise<void> {
    const { body: owner } = await cluster.request('GET', paths.cronJobs(where, cronJob));
    const { uid } = owner.metadata as { uid: string };
    await scene.create(paths.jobs(where), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${cronJob}-run`,
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob, uid, controller: true }],
      },
      spec: jobSpec(shape),
    });
  }

  async function untilRunning(cronJobs: readonly string[]): Promise<void> {
    await scene.service.until('all run', async () => {
      const { body } = await cluster.request('GET', `${paths.pods(namespace)}?fieldSelector=status.phase%3DRunning`);
      const jobs = new Set(
        (body.items as { metadata: { labels: Record<string, string> } }[]).map(
          ({ metadata }) => metadata.labels['job-name'],
        ),
      );
      return cronJobs.every((name) => jobs.has(`${name}-run`));
    });
  }

  async function taint(node: string): Promise<void> {
    const { status } = await cluster.request('PATCH', `/api/v1/nodes/${node}`, {
      body: { spec: { taints: [{ key: 'disk.example.com/broken', effect: 'NoExecute' }] } },
      contentType: 'application/merge-patch+json',
    });
    assert.equal(status, 200);
  }
});
