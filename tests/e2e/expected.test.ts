import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { aCronJob, paths } from '../cluster/kube-objects.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { createScenarios, findStage, hasty } from './alerting/stage.ts';

const config = { ...hasty, cluster: { name: 'test' } };

/** A chart of two CronJobs, of which one may be switched off. */
const templates = {
  'kept.yaml': aCronJob('kept', { labels: { app: 'backups' } }),
  'pruned.yaml': aCronJob('pruned', { labels: { app: 'backups' } }),
};

const told = 'alert.firing absent/disappeared';
const ended = 'alert.resolved absent/disappeared';

const stage = await findStage('sqlite');

describe('CronJobs that are expected and not there, on a real cluster', { skip: stage.skip, concurrency: 10 }, () => {
  const { cluster } = stage;
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-expected-'));
  let scene: Scene;
  const { scenario, others } = createScenarios();

  before(async () => {
    scene = await stage.begin(config);
  });
  after(async () => {
    await stage.end(scene);
    rmSync(folder, { recursive: true });
  });

  scenario(
    'one that an upgrade of its chart prunes is told with who wrote it last, and a rollback ends it',
    async () => {
      writeChart();
      await stage.runHelm('install', 'backups', folder);
      await expecting('pruned', {
        selector: { matchLabels: { app: 'backups' } },
        expects: { names: ['pruned'], grace: '2s' },
      });
      await scene.untilWatched('pruned', 'kept');
      await untilMet('pruned', 'True', 'AllPresent');
      await stage.runHelm('upgrade', 'backups', folder, '--set', 'isPruned=true');
      await scene.untilHeard('pruned', [told]);
      const [alert] = scene.told('pruned');
      assert.match(alert?.data.alert.title ?? '', /^CRITICAL prod\/pruned: deleted 20\d\d-\d\d-\d\d \d\d:\d\d UTC$/);
      const today = new Date().toISOString().slice(0, 4);
      assert.match(
        alert?.data.alert.message ?? '',
        new RegExp(
          `^The CronJob was deleted .* UTC\\. It was last written by helm \\(release backups\\) on ${today}.*\\. The cluster does not record who deleted it\\.$`,
        ),
      );
      await untilMet('pruned', 'False', 'Missing');
      const { items } = await scene.service.ask<{
        items: readonly { context: { absence: Record<string, unknown> } }[];
      }>('/api/v1/alerts?type=absent&cronjob=pruned');
      const absence = items[0]?.context.absence;
      assert.deepEqual([absence?.['cause'], absence?.['deletedFrom']], ['deleted', absence?.['deletedUntil']]);
      await stage.runHelm('rollback', 'backups', '1');
      await scene.untilHeard('pruned', [told, ended]);
      await untilMet('pruned', 'True', 'AllPresent');
    },
  );

  scenario('a namespace that is deleted takes its CronJobs with it: nothing is told', async () => {
    const annotations = { 'cronjob-monitor.io/monitored-from': namespace };
    await scene.create('/api/v1/namespaces', { metadata: { name: 'doomed', annotations } });
    await scene.create(paths.cronJobs('doomed'), aCronJob('doomed'));
    const expects = { names: ['doomed/doomed'], seen: true, grace: '0s' };
    await expecting('doomed', { selector: { namespaces: ['doomed'] }, expects });
    await untilMet('doomed', 'True', 'AllPresent');
    await scene.remove('/api/v1/namespaces/doomed');
    await scene.service.until(
      'the CronJob is gone',
      async () => (await statusOf(paths.cronJobs('doomed', 'doomed'))) === 404,
    );
    await untilMet('doomed', 'False', 'NamespaceGone');
    await scene.service.until(
      'the namespace is gone',
      async () => (await statusOf('/api/v1/namespaces/doomed')) === 404,
    );
    await wait(3_000);
    await untilMet('doomed', 'False', 'NamespaceGone');
    assert.deepEqual(scene.heard('doomed'), []);
  });

  scenario('one that is deleted and made anew within the grace tells nothing', async () => {
    await scene.create(paths.cronJobs(namespace), aCronJob('replaced'));
    await expecting('replaced', { expects: { names: ['replaced'], grace: '15s' } });
    await untilMet('replaced', 'True', 'AllPresent');
    await scene.remove(paths.cronJobs(namespace, 'replaced'));
    await scene.service.until(
      'it is gone',
      async () => (await statusOf(paths.cronJobs(namespace, 'replaced'))) === 404,
    );
    await wait(5_000);
    await scene.create(paths.cronJobs(namespace), aCronJob('replaced'));
    await wait(15_000);
    await untilMet('replaced', 'True', 'AllPresent');
    assert.deepEqual(scene.heard('replaced'), []);
  });

  scenario('labels that drift away are told, and their return ends it', async () => {
    await scene.create(paths.cronJobs(namespace), aCronJob('drifts', { labels: { tier: 'drift' } }));
    await expecting('drifts', {
      selector: { matchLabels: { tier: 'drift' } },
      expects: { names: ['drifts'], grace: '2s' },
    });
    await untilMet('drifts', 'True', 'AllPresent');
    await label('drifts', { tier: 'other' });
    await scene.untilHeard('drifts', [told]);
    assert.match(scene.told('drifts')[0]?.data.alert.title ?? '', /: there, but not selected$/);
    await label('drifts', { tier: 'drift' });
    await scene.untilHeard('drifts', [told, ended]);
  });

  scenario('what succeeded is expected without a name, what never did is not, and an exception lets go', async () => {
    for (const name of ['worked', 'never-worked', 'may-go'])
      await scene.create(paths.cronJobs(namespace), aCronJob(name, { labels: { tier: 'seen' } }));
    const spec = {
      selector: { matchLabels: { tier: 'seen' } },
      expects: { seen: true, except: ['may-go'], grace: '2s' },
    };
    await expecting('seen', spec);
    await scene.untilWatched('worked', 'never-worked', 'may-go');
    for (const name of ['worked', 'may-go']) await scene.run(name, 'success');
    await scene.service.until('both succeeded', async () => {
      const path = (name: string) => `/api/v1/cronjobs/${namespace}/${name}`;
      const all = await Promise.all(
        ['worked', 'may-go'].map((name) => scene.service.ask<{ lastSuccess: string | null }>(path(name))),
      );
      return all.every(({ lastSuccess }) => lastSuccess !== null);
    });
    for (const name of ['worked', 'never-worked', 'may-go']) await scene.remove(paths.cronJobs(namespace, name));
    await scene.untilHeard('seen', [told]);
    assert.match(scene.told('seen')[0]?.data.alert.title ?? '', /prod\/worked: deleted/);
    assert.notEqual(scene.told('seen')[0]?.data.cronjob.lastSuccess, null);
    await patchMonitor('seen', { expects: { ...spec.expects, except: ['may-go', 'worked'] } });
    await scene.untilHeard('seen', [told, 'alert.expired absent/disappeared']);
  });

  scenario(
    'one in a namespace that did not agree is named in the condition, and is not judged until it does',
    async () => {
      const other = 'elsewhere';
      await scene.create('/api/v1/namespaces', { metadata: { name: other } });
      await scene.create(paths.cronJobs(other), aCronJob('secret'));
      await expecting('peeks', { expects: { names: [`${other}/secret`, `${other}/other`], grace: '0s' } });
      await untilMet('peeks', 'False', 'OutOfReach');
      await wait(5_000);
      assert.deepEqual(scene.heard('peeks'), []);
      await patch(`/api/v1/namespaces/${other}`, {
        metadata: { annotations: { 'cronjob-monitor.io/monitored-from': namespace } },
      });
      await scene.untilHeard('peeks', [told, told]);
      await untilMet('peeks', 'False', 'Missing');
    },
  );

  scenario('a name that never existed is told, and its first CronJob ends it', async () => {
    await expecting('ghost', { expects: { names: ['ghost'], grace: '0s' } });
    await scene.untilHeard('ghost', [told]);
    assert.match(scene.told('ghost')[0]?.data.alert.title ?? '', /prod\/ghost: expected, but never existed$/);
    const { items } = await scene.service.ask<{ items: readonly { name: string }[] }>('/api/v1/cronjobs?search=ghost');
    assert.deepEqual(items, [], 'it is no CronJob');
    await scene.create(paths.cronJobs(namespace), aCronJob('ghost'));
    await scene.untilHeard('ghost', [told, ended]);
  });

  test('one that goes while the service is down is told, with the time in which it went, as its owner asked', async () => {
    await wait(1_000); // All of them have begun.
    await Promise.allSettled(others);
    // What owners said of theirs counts on for a process that never saw it.
    const said = { unseen: {}, leftout: {}, lesser: { severity: 'warning' } };
    for (const [name, words] of Object.entries(said)) {
      const annotations = Object.fromEntries(
        Object.entries(words).map(([key, value]) => [`cronjob-monitor.io/${key}`, value]),
      );
      await scene.create(paths.cronJobs(namespace), aCronJob(name, { annotations, labels: { app: 'unseen' } }));
    }
    await expecting('unseen', {
      selector: { matchLabels: { app: 'unseen' } },
      expects: { names: Object.keys(said), grace: '2s' },
    });
    await untilMet('unseen', 'True', 'AllPresent');
    await scene.untilWatched(...Object.keys(said));
    await patch(paths.cronJobs(namespace, 'leftout'), {
      metadata: { annotations: { 'cronjob-monitor.io/ignore': 'true' } },
    });
    await scene.service.until('its owner has it left out', async () => {
      const { summary } = await scene.service.ask<{ summary: { ignored: number } }>('/api/v1/coverage');
      return summary.ignored === 1;
    });
    await wait(2_000); // Its row says so.
    await (await scene.service.leader()).kill();
    for (const name of Object.keys(said)) await scene.remove(paths.cronJobs(namespace, name));
    await wait(3_000);
    await scene.service.startReady();
    // In a quiet cluster absence is known up to the last bookmark, which comes each minute.
    await scene.untilHeard('unseen', [told, told], 180_000);
    const alerts = scene.told('unseen').map(({ data }) => data.alert);
    for (const { message } of alerts) assert.match(message, /^The CronJob was deleted between .* and .* UTC\./);
    assert.deepEqual(alerts.map(({ title }) => title.split(':')[0]).sort(), [
      'CRITICAL prod/unseen',
      'WARNING prod/lesser',
    ]);
  });

  /** A monitor whose messages go to a path of its own name. */
  async function expecting(name: string, spec: object): Promise<void> {
    await scene.webhook(name);
    await scene.monitor(name, name, spec, [name]);
  }

  async function untilMet(monitor: string, status: string, reason: string): Promise<void> {
    await scene.service.until(`ExpectationsMet of ${monitor} is ${status} ${reason}`, async () => {
      const { body } = await cluster.request('GET', paths.monitors(namespace, monitor));
      const { conditions = [] } =
        (body as { status?: { conditions?: readonly Record<string, string>[] } }).status ?? {};
      const met = conditions.find(({ type }) => type === 'ExpectationsMet');
      return met?.['status'] === status && met['reason'] === reason;
    });
  }

  async function statusOf(path: string): Promise<number> {
    return (await cluster.request('GET', path)).status;
  }

  async function label(cronJob: string, labels: object): Promise<void> {
    await patch(paths.cronJobs(namespace, cronJob), { metadata: { labels } });
  }

  async function patchMonitor(name: string, spec: object): Promise<void> {
    await patch(paths.monitors(namespace, name), { spec });
  }

  async function patch(path: string, body: object): Promise<void> {
    const { status } = await cluster.request('PATCH', path, { body, contentType: 'application/merge-patch+json' });
    assert.equal(status, 200);
  }

  function writeChart(): void {
    mkdirSync(join(folder, 'templates'), { recursive: true });
    writeFileSync(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: backups\nversion: 1.0.0\n');
    writeFileSync(join(folder, 'values.yaml'), 'isPruned: false\n');
    for (const [file, object] of Object.entries(templates)) {
      const text = JSON.stringify(object);
      writeFileSync(
        join(folder, 'templates', file),
        file === 'pruned.yaml' ? `{{ if not .Values.isPruned }}\n${text}\n{{ end }}\n` : `${text}\n`,
      );
    }
  }
});
