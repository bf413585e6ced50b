import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { createCluster, type Cluster } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { aTemporaryFolder, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { aCronJob, paths } from '../../cluster/kube-objects.ts';
import { startRealCluster, type RealCluster } from '../real-cluster.ts';
import { findTools, type Tools } from './tools.ts';

const root = resolve(import.meta.dirname, '../../..');
const found = await findTools();
const started = 'skipped' in found ? found : await startRealCluster();
const never = new AbortController().signal;
const docs = readFileSync(resolve(root, 'docs/resources.md'), 'utf8');

/** The words of the line of the documentation that begins so, after `kubectl`. */
function documented(beginning: string): string[] {
  const line = docs.split('\n').find((one) => one.startsWith(`kubectl ${beginning} `));
  assert.ok(line, `docs/resources.md has no line kubectl ${beginning}`);
  return line.split(' ').slice(1);
}

describe('kubectl, as the documentation uses it', { skip: 'skipped' in started && started.skipped }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  const tools = found as Tools;
  const kubectl = (...args: readonly string[]) => tools.kubectl(['--kubeconfig', cluster.kubeconfig, ...args]);
  const make = async (path: string, body: object): Promise<void> => {
    const { status } = await cluster.request('POST', path, { body });
    assert.equal(status, 201, path);
  };
  const tell = async (status: 'True' | 'False' | 'Unknown'): Promise<void> => {
    const condition = { type: 'Healthy', status, reason: 'R', message: 'm', observedGeneration: 1 };
    const body = { status: { conditions: [{ ...condition, lastTransitionTime: '2026-11-21T07:00:00Z' }] } };
    const answer = await cluster.request('PATCH', `${paths.monitors('prod', 'backups')}/status`, {
      body,
      contentType: 'application/merge-patch+json',
    });
    assert.equal(answer.status, 200);
  };

  const withClient = async (use: (client: Cluster) => Promise<void>): Promise<void> => {
    const client = createCluster({ kubeconfig: cluster.kubeconfig, clock: systemClock, logger: new RecordingLogger() });
    try {
      await use(client);
    } finally {
      await client.close();
    }
  };

  before(async () => {
    await cluster.applyCrds();
    for (const name of ['prod', 'argocd']) await make('/api/v1/namespaces', { metadata: { name } });
  });
  after(() => cluster.stop());

  test('wait goes on while a rollout is Progressing or Degraded, and ends when all are Healthy', async () => {
    const apiVersion = 'cronjob-monitor.io/v1alpha1';
    await make(paths.monitors('prod'), { apiVersion, kind: 'CronJobMonitor', metadata: { name: 'backups' }, spec: {} });
    const line = documented('wait');
    const briefly = line.map((word) => (word.startsWith('--timeout') ? '--timeout=1s' : word));
    for (const status of ['Unknown', 'False'] as const) {
      await tell(status);
      const { code, said } = await kubectl(...briefly);
      assert.deepEqual([code, /timed out waiting/.test(said)], [1, true], said);
    }
    const waiting = kubectl(...line);
    await tell('True');
    assert.deepEqual(await waiting, { code: 0, said: 'cronjobmonitor.cronjob-monitor.io/backups condition met\n' });
  });

  test('patch leaves what argocd-cm had and adds the three scripts', async () => {
    await make('/api/v1/namespaces/argocd/configmaps', { metadata: { name: 'argocd-cm' }, data: { url: 'https://x' } });
    const line = documented('patch').map((word) => (word.startsWith('charts/') ? resolve(root, word) : word));
    assert.equal((await kubectl(...line)).code, 0);
    const { body } = await cluster.request('GET', '/api/v1/namespaces/argocd/configmaps/argocd-cm');
    const file = parse(readFileSync(resolve(root, 'charts/cronjob-monitor/gitops/argocd-cm.yaml'), 'utf8'));
    assert.deepEqual(body.data, { url: 'https://x', ...file.data });
    assert.equal(Object.keys(file.data).length, 3);
  });

  test('diff and apply of what a repository holds see nothing of what is mirrored, and leave it', async (t) => {
    const folder = aTemporaryFolder(t);
    const write = (file: string, schedule: string): string => {
      const path = resolve(folder, file);
      writeFileSync(path, JSON.stringify(aCronJob('kept', { schedule, annotations: { team: 'data' } })));
      return path;
    };
    const [same, other] = [write('same.json', '0 0 1 1 *'), write('other.json', '0 0 2 1 *')];
    const ways = [[], ['--server-side', '--field-manager=repository']];
    for (const how of ways) {
      assert.equal((await kubectl('apply', '-n', 'prod', ...how, '-f', same)).code, 0);
      const { body } = await cluster.request('GET', paths.cronJobs('prod', 'kept'));
      const { namespace, name, uid, generation } = body.metadata;
      await withClient((client) =>
        client.applyHealth({ namespace, name, uid }, { health: `Degraded/${generation}`, message: 'm' }, never),
      );
      assert.deepEqual(await kubectl('diff', '-n', 'prod', ...how, '-f', same), { code: 0, said: '' }, how.join());
      assert.equal((await kubectl('diff', '-n', 'prod', ...how, '-f', other)).code, 1, 'a change is seen');
      assert.equal((await kubectl('apply', '-n', 'prod', ...how, '-f', same)).code, 0);
      const { body: after } = await cluster.request('GET', paths.cronJobs('prod', 'kept'));
      assert.equal(after.metadata.annotations['cronjob-monitor.io/health'], `Degraded/${generation}`);
      assert.equal(after.metadata.generation, generation, 'the spec is the same, so its rollout goes on');
    }
  });

  test('annotate takes what was mirrored away', async () => {
    const own = { 'cronjob-monitor.io/health': 'Healthy/1', 'cronjob-monitor.io/health-message': 'm' };
    await make(paths.cronJobs('prod'), aCronJob('mirrored', { annotations: { team: 'data', ...own } }));
    assert.equal((await kubectl(...documented('annotate'))).code, 0);
    const { body } = await cluster.request('GET', paths.cronJobs('prod', 'mirrored'));
    assert.deepEqual(body.metadata.annotations, { team: 'data' });
  });

  test('describe shows the Event about an annotation', async () => {
    await make(paths.cronJobs('prod'), aCronJob('bad', { annotations: { 'cronjob-monitor.io/grace': '5' } }));
    const { body } = await cluster.request('GET', paths.cronJobs('prod', 'bad'));
    const { namespace, name, uid } = body.metadata;
    const warning = { name: 'bad.1', cronJob: { namespace, name, uid }, reason: 'InvalidAnnotation', message: 'm' };
    await withClient((client) => client.createWarning({ ...warning, at: Date.now() }, never));
    const { said } = await kubectl('describe', 'cronjob', 'bad', '-n', 'prod');
    assert.match(said, /Warning +InvalidAnnotation +\S+ +cronjob-monitor +m/);
  });
});
