import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { createCluster } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { aCronJob, paths } from '../../cluster/kube-objects.ts';
import { startRealCluster, type RealCluster } from '../real-cluster.ts';
import { findTools, type Tools } from './tools.ts';

const chart = resolve(import.meta.dirname, '../../../charts/cronjob-monitor');
const found = await findTools();
const started = 'skipped' in found ? found : await startRealCluster();
const never = new AbortController().signal;
const fromChart = (file: string): Manifest => parse(readFileSync(resolve(chart, file), 'utf8'));

/** What is read of an object. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
}

/** As Argo CD names an application on what it manages. */
function tracked(group: string, object: object, namespace?: string): object {
  const { metadata, kind } = object as Manifest; // those below
  const id = `app:${group}/${kind}:${namespace ?? 'argocd'}/${metadata.name}`;
  const annotations = { ...metadata.annotations, 'argocd.argoproj.io/tracking-id': id };
  return { ...object, metadata: { ...metadata, ...(namespace && { namespace }), annotations } };
}

const apiVersion = 'cronjob-monitor.io/v1alpha1';
const group = 'cronjob-monitor.io';

const watch = (name: string) => ({
  selector: { matchLabels: { app: name } },
  deadManSwitch: { maxTimeSinceLastSuccess: '25h' },
  sla: { minSuccessRate: 99.5, maxDuration: '90m' },
  alerting: { channelRefs: [{ name, severities: ['critical'] }] },
});
const channel = { type: 'chat', chat: { webhookSecretRef: { namespace: 'prod', name: 'chat', key: 'url' } } };

/** What a repository holds for a team. */
const repository = (name: string, schedule = '0 0 1 1 *') => [
  tracked('batch', aCronJob(name, { schedule, annotations: { 'cronjob-monitor.io/owner': 'data' } }), 'prod'),
  tracked(group, { apiVersion, kind: 'CronJobMonitor', metadata: { name }, spec: watch(name) }, 'prod'),
  tracked(group, { apiVersion, kind: 'AlertChannel', metadata: { name }, spec: channel }),
];

const nothing = { threeWay: null, structured: null, serverSide: null };

describe('the engine of Argo CD', { skip: 'skipped' in started && started.skipped }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  const tools = found as Tools;
  const compare = (objects: readonly object[]) => tools.compare(cluster.kubeconfig, objects);
  const read = async (path: string) => (await cluster.request('GET', path)).body;

  before(async () => {
    await cluster.applyCrds();
    const { status } = await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'prod' } } });
    assert.equal(status, 201);
  });
  after(() => cluster.stop());

  /** What the service writes: the health of the CronJob, and the status of monitor and channel. */
  async function serve(name: string): Promise<void> {
    const client = createCluster({ kubeconfig: cluster.kubeconfig, clock: systemClock, logger: new RecordingLogger() });
    try {
      const { metadata } = await read(paths.cronJobs('prod', name));
      const key = { namespace: 'prod', name, uid: metadata.uid };
      await client.applyHealth(
        key,
        { health: `Degraded/${metadata.generation}`, message: 'Its last run failed.' },
        never,
      );
    } finally {
      await client.close();
    }
    const condition = { status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2026-11-21T07:00:00Z' };
    for (const [path, type] of [
      [paths.monitors('prod', name), 'Healthy'],
      [`/apis/cronjob-monitor.io/v1alpha1/alertchannels/${name}`, 'Ready'],
    ]) {
      const answer = await cluster.request('PATCH', `${path}/status`, {
        body: { status: { observedGeneration: 1, conditions: [{ ...condition, type, observedGeneration: 1 }] } },
        contentType: 'application/merge-patch+json',
      });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    }
  }

  for (const way of ['client', 'server'] as const)
    test(`sees nothing of what the service writes where the ${way} applied, and a sync leaves it there`, async () => {
      const objects = repository(way);
      tools.sync(cluster.kubeconfig, way, objects);
      await serve(way);
      for (const difference of compare(objects)) assert.deepEqual(difference, { name: difference.name, ...nothing });

      const [changed, ...others] = compare(repository(way, '0 0 2 1 *'));
      const { name, ...ways } = changed ?? assert.fail();
      assert.deepEqual(
        Object.entries(ways).map(([kind, predicted]) => [
          kind,
          (predicted as { spec?: { schedule?: string } } | null)?.spec?.schedule,
        ]),
        Object.keys(nothing).map((kind) => [kind, '0 0 2 1 *']),
        `${name}: a change is seen in all three ways`,
      );
      assert.ok(others.every(({ threeWay, structured, serverSide }) => !threeWay && !structured && !serverSide));

      tools.sync(cluster.kubeconfig, way, objects);
      const { metadata } = await read(paths.cronJobs('prod', way));
      assert.equal(metadata.annotations['cronjob-monitor.io/health'], `Degraded/${metadata.generation}`);
      assert.equal(metadata.annotations['cronjob-monitor.io/health-message'], 'Its last run failed.');
    });

  test('sees no difference between the CRDs of the chart and those of the cluster', () => {
    const crds = ['alertchannels', 'cronjobmonitors'].map((file) => fromChart(`crds/${file}.yaml`));
    tools.sync(cluster.kubeconfig, 'server', crds);
    for (const { name, serverSide, threeWay } of compare(crds))
      assert.deepEqual({ name, serverSide, threeWay }, { name, serverSide: null, threeWay: null });
  });

  test('takes the health of a CronJob from our script, and says of one that goes that it is Progressing', async () => {
    const scripts = {
      ours: fromChart('gitops/argocd-cm.yaml').data?.['resource.customizations.health.batch_CronJob'] ?? assert.fail(),
    };
    const object = await read(paths.cronJobs('prod', 'client'));
    const typed = { apiVersion: 'batch/v1', kind: 'CronJob', ...object };
    const going = { ...typed, metadata: { ...typed.metadata, deletionTimestamp: '2026-11-21T07:00:00Z' } };
    const said = tools
      .ask([typed, going].map((one) => ({ object: one, scripts })))
      .map(({ scripts: { ours: told } }) => told);
    assert.deepEqual(said, [
      { status: 'Degraded', message: 'Its last run failed.' },
      { status: 'Progressing', message: 'Pending deletion' },
    ]);
  });
});
