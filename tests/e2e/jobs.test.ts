import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { aCronJob, aJob, jobSpec, paths } from '../cluster/kube-objects.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { createScenarios, findStage, hasty } from './alerting/stage.ts';

const config = { ...hasty, cluster: { name: 'test' } };

const failed = 'alert.firing jobFailed';
const resolved = 'alert.resolved jobFailed';
const forgotten = 'alert.expired jobFailed';

/** What of an item of the list is asked here. */
interface Item {
  readonly name: string;
  readonly kind: string;
  readonly schedule: string;
  readonly nextRun: string | null;
  readonly verdict: { readonly state: string; readonly kind: string };
}

const stage = await findStage('sqlite');
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

describe('Jobs without a CronJob, on a real cluster', { skip: stage.skip, concurrency: 10 }, () => {
  const { cluster } = stage;
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-jobs-'));
  let scene: Scene;
  const { scenario, others } = createScenarios();

  before(async () => {
    await makeJobSets();
    scene = await stage.begin(config);
  });
  after(async () => {
    await stage.end(scene);
    rmSync(folder, { recursive: true });
  });

  scenario(
    'a Helm hook that fails and removes its Job at once is told, and the next one that succeeds ends it',
    async () => {
      await watching('hooks', { hasAnnotations: ['helm.sh/hook'], only: true });
      writeChart();
      await assert.rejects(stage.runHelm('install', 'shop', folder, '--set', 'outcome=exit:4'));
      await scene.untilHeard('hooks', [failed]);
      const [message] = scene.told('hooks');
      assert.deepEqual(message?.data.cronjob, { ...message?.data.cronjob, namespace, name: '~migrate' });
      assert.equal(message?.data.job?.exitCode, 4);
      assert.match(message?.data.alert.title ?? '', /^WARNING prod\/~migrate/);
      assert.equal(
        (await cluster.request('GET', paths.jobs(namespace, 'migrate'))).status,
        404,
        'the hook took its Job',
      );
      await stage.runHelm('upgrade', '--install', 'shop', folder, '--set', 'outcome=success');
      await scene.untilHeard('hooks', [failed, resolved]);
      const group = await item('~migrate');
      assert.deepEqual(
        [group?.kind, group?.schedule, group?.nextRun, group?.verdict.state],
        ['Jobs', '', null, 'healthy'],
      );
    },
  );

  scenario(
    'Jobs that people make are one group by their name without its suffix, and are told by their labels',
    async () => {
      await watching('by-hand', { matchLabels: { team: 'data' } });
      await job('import-20261124', 'exit:1', { labels: { team: 'data' } });
      await scene.untilHeard('by-hand', [failed]);
      await job('import-20261125', 'success', { labels: { team: 'data' } });
      await scene.untilHeard('by-hand', [failed, resolved]);
      assert.deepEqual((await runsOf('~import')).sort(), ['import-20261124', 'import-20261125']);
    },
  );

  scenario('the Jobs of a JobSet are told by the reference to its controller alone', async () => {
    await watching('sets', { ownerKinds: ['JobSet'] });
    const set = await scene.create(jobSets, {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: 'train' },
    });
    const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train', uid: set.uid };
    await job('train-leader-0', 'success', { ownerReferences: [{ ...owner, controller: false }] });
    await job('train-workers-0', 'exit:9', { ownerReferences: [{ ...owner, controller: true }] });
    await scene.untilHeard('sets', [failed]);
    assert.equal(scene.told('sets')[0]?.data.cronjob.name, '~jobset-train');
    assert.deepEqual(await runsOf('~jobset-train'), ['train-workers-0']);
  });

  scenario('a Job that does not start is told', async () => {
    await scene.webhook('waits');
    await scene.monitor(
      'waits',
      'waits',
      { ...watches({ matchLabels: { app: 'waits' } }), stuckJobs: { notStartedAfter: '3s' } },
      ['waits'],
    );
    await job('waits-1', 'imagepull', { labels: { app: 'waits' } });
    await scene.untilHeard('waits', ['alert.firing jobStuck/notStarted']);
  });

  scenario('the label group puts Jobs of any name into one group', async () => {
    await watching('grouped', { matchExpressions: [{ key: 'cronjob-monitor.io/group', operator: 'Exists' }] });
    await job('etl-extract', 'exit:1', { labels: { 'cronjob-monitor.io/group': 'Nightly_ETL' } });
    await scene.untilHeard('grouped', [failed]);
    await job('etl-load', 'success', { labels: { 'cronjob-monitor.io/group': 'Nightly_ETL' } });
    await scene.untilHeard('grouped', [failed, resolved]);
    assert.equal((await item('~Nightly_ETL'))?.kind, 'Jobs');
  });

  scenario('a group cannot be started, suspended or resumed, and CronJobs are listed without groups', async () => {
    await scene.webhook('acts');
    await scene.monitor('acts', 'acts', { jobs: { matchLabels: { app: 'acts' } } }, ['acts']);
    await scene.create(paths.cronJobs(namespace), aCronJob('acts'));
    await job('acting', 'success', { labels: { app: 'acts' } });
    await scene.untilWatched('~acting', 'acts');
    for (const action of ['trigger', 'suspend', 'resume']) {
      const answer = await fetch(`${scene.service.api}/api/v1/cronjobs/${namespace}/~acting/${action}`, {
        method: 'POST',
      });
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.deepEqual([answer.status, error.code, error.message], [409, 'CONFLICT', '~acting is a group of Jobs']);
    }
    const { items } = await scene.service.ask<{ items: Item[] }>('/api/v1/cronjobs');
    assert.deepEqual([...new Set(items.map(({ kind }) => kind))], ['CronJob']);
    const { routes } = await scene.service.ask<{ routes: { type: string; state: string }[] }>(
      `/api/v1/cronjobs/${namespace}/~acting/route?type=jobFailed,missedSchedule,deadManTriggered`,
    );
    assert.deepEqual(
      routes.map(({ type, state }) => [type, state === 'off']),
      [
        ['jobFailed', false],
        ['missedSchedule', true],
        ['deadManTriggered', true],
      ],
    );
  });

  scenario('jobs without a criterion are refused by the API server', async () => {
    const { status, body } = await cluster.request('POST', paths.monitors(namespace), {
      body: monitorOf('greedy', { only: true }),
    });
    assert.equal(status, 422);
    assert.match(String(body.message), /jobs needs matchLabels, matchExpressions, ownerKinds or hasAnnotations/);
  });

  test('what failed is forgotten after a while, over a restart too, where KubeJobFailed fires after 48 h still', async (context) => {
    await wait(1_000); // All of them have begun.
    await Promise.allSettled(others);
    const names = ['old-a', 'old-b', 'old-c'];
    await watching('old', { matchLabels: { app: 'old' }, forgetAfter: '8s' }, { suppressDuplicatesFor: '1s' });
    for (const name of names) await job(name, 'exit:1', { labels: { app: 'old' } });
    await scene.untilHeard('old', [failed, failed, failed]);
    // A Job that the cluster keeps for good, and one that is gone before the next leader looks.
    await (await scene.service.leader()).kill();
    await scene.remove(paths.jobs(namespace, 'old-c'));
    await scene.service.startReady();
    await scene.untilHeard('old', [failed, failed, failed, forgotten, forgotten, forgotten]);
    const { items } = await scene.service.ask<{ items: { state: string; closeCause: string }[] }>(
      '/api/v1/alerts/history?cronjob=~old-c',
    );
    assert.deepEqual(
      items.map(({ closeCause }) => closeCause),
      ['forgotten'],
    );
    const ours = (await Promise.all(names.map((name) => scene.openAlerts(`~${name}`)))).flat();
    assert.deepEqual(ours, []);
    const kept = (await failedJobs()).filter((name) => name.startsWith('old-'));
    if (hasPromtool) assert.equal(firingAfterTwoDays(kept, ['old-a', 'old-b']), '');
    else context.diagnostic('promtool is not installed (apt-get install prometheus): KubeJobFailed was not asked');
    // What was forgotten does not come back by itself; a Job that fails anew is told.
    await wait(5_000);
    assert.equal(scene.heard('old').length, 6);
    await scene.remove(paths.jobs(namespace, 'old-a'));
    await job('old-a-2', 'exit:1', { labels: { app: 'old' } });
    await scene.untilHeard('old', [failed, failed, failed, forgotten, forgotten, forgotten, failed]);
  });

  /** Names of Jobs that are there and have the condition Failed: of these kube-state-metrics says `kube_job_failed{condition="true"} 1`. */
  async function failedJobs(): Promise<string[]> {
    const { body } = await cluster.request('GET', paths.jobs(namespace));
    const { items } = body as unknown as {
      items: { metadata: { name: string }; status?: { conditions?: { type: string; status: string }[] } }[];
    };
    return items
      .filter(({ status }) =>
        status?.conditions?.some(({ type, status: holds }) => type === 'Failed' && holds === 'True'),
      )
      .map(({ metadata }) => metadata.name);
  }

  /** What promtool finds wrong with it that after 48 hours KubeJobFailed of kubernetes-mixin fires for these Jobs alone. */
  function firingAfterTwoDays(failed: readonly string[], fires: readonly string[]): string {
    const rules = mkdtempSync(join(tmpdir(), 'cronjob-monitor-mixin-'));
    const rule = { alert: 'KubeJobFailed', expr: 'kube_job_failed{job="kube-state-metrics"} > 0', for: '15m' };
    const labelsOf = (name: string): string =>
      `condition="true", job="kube-state-metrics", job_name="${name}", namespace="${namespace}"`;
    const query = {
      expr: 'ALERTS{alertstate="firing"}',
      eval_time: '48h',
      exp_samples: fires.map((name) => ({
        labels: `ALERTS{alertname="KubeJobFailed", alertstate="firing", ${labelsOf(name)}}`,
        value: 1,
      })),
    };
    const series = failed.map((name) => ({ series: `kube_job_failed{${labelsOf(name)}}`, values: '1x576' }));
    const replay = { interval: '5m', input_series: series, promql_expr_test: [query] };
    try {
      writeFileSync(
        join(rules, 'rules.yaml'),
        JSON.stringify({ groups: [{ name: 'kubernetes-apps', rules: [rule] }] }),
      );
      const file = { rule_files: ['rules.yaml'], evaluation_interval: '5m', tests: [replay] };
      writeFileSync(join(rules, 'tests.yaml'), JSON.stringify(file));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'tests.yaml'], {
        cwd: rules,
        encoding: 'utf8',
      });
      return status === 0 ? '' : stdout + stderr;
    } finally {
      rmSync(rules, { recursive: true });
    }
  }

  function watches(jobs: object): object {
    // No CronJob has this name: what is told is told of Jobs.
    return { selector: { matchNames: ['none'] }, jobs };
  }

  function monitorOf(name: string, jobs: object): object {
    return {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name },
      spec: watches(jobs),
    };
  }

  /** A monitor of Jobs whose messages go to a path of its own name. */
  async function watching(name: string, jobs: object, alerting: object = {}): Promise<void> {
    await scene.webhook(name);
    await scene.monitor(name, name, { ...watches(jobs), alerting }, [name]);
  }

  async function job(name: string, outcome: string, metadata: object): Promise<void> {
    const made = aJob(name) as { metadata: object };
    await scene.create(paths.jobs(namespace), {
      ...made,
      metadata: { ...made.metadata, ...metadata },
      spec: jobSpec({ play: { outcome, seconds: '1' } }),
    });
  }

  async function item(name: string): Promise<Item | undefined> {
    const { items } = await scene.service.ask<{ items: Item[] }>('/api/v1/cronjobs?kind=Jobs');
    return items.find((one) => one.name === name);
  }

  async function runsOf(group: string): Promise<string[]> {
    const { items } = await scene.service.ask<{ items: { jobName: string }[] }>(
      `/api/v1/cronjobs/${namespace}/${group}/executions`,
    );
    return items.map(({ jobName }) => jobName);
  }

  const jobSets = `/apis/jobset.x-k8s.io/v1alpha2/namespaces/${namespace}/jobsets`;

  /** The kind alone: no controller of it runs, and its Jobs are made by the test. */
  async function makeJobSets(): Promise<void> {
    const names = { plural: 'jobsets', singular: 'jobset', kind: 'JobSet', listKind: 'JobSetList' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const { status } = await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'jobsets.jobset.x-k8s.io' },
        spec: {
          group: 'jobset.x-k8s.io',
          scope: 'Namespaced',
          names,
          versions: [{ name: 'v1alpha2', served: true, storage: true, schema }],
        },
      },
    });
    assert.ok(status === 201 || status === 409);
  }

  function writeChart(): void {
    mkdirSync(join(folder, 'templates'), { recursive: true });
    writeFileSync(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: shop\nversion: 1.0.0\n');
    writeFileSync(join(folder, 'values.yaml'), 'outcome: success\n');
    const annotations = {
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-delete-policy': 'hook-succeeded,hook-failed',
    };
    const hook = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'migrate', annotations },
      spec: jobSpec({ play: { outcome: '{{ .Values.outcome }}', seconds: '1' } }),
    };
    writeFileSync(join(folder, 'templates', 'migrate.yaml'), `${JSON.stringify(hook)}\n`);
  }
});
