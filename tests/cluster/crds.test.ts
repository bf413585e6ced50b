import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { decodeChannelSpec, decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { monitorDefaults, wholeChannelSpecs } from '@cronjob-monitor/shared/testing';
import type { ApiAnswer } from '../realcluster/api-request.ts';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import {
  acceptedMonitors,
  exampleChannel,
  exampleMonitor,
  refusedChannels,
  refusedMonitors,
  refusedName,
} from './crd-examples.ts';

const started = await startRealCluster();
const skip = 'skipped' in started ? started.skipped : false;
const group = '/apis/cronjob-monitor.io/v1alpha1';
const monitors = `${group}/namespaces/default/cronjobmonitors`;
const channels = `${group}/alertchannels`;

const defaults = { ...monitorDefaults, storeLogs: true };

describe('the CRDs on a real API server', { skip }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  const create = (path: string, kind: string, spec: unknown, query = '?dryRun=All'): Promise<ApiAnswer> =>
    cluster.request('POST', path + query, {
      body: {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind,
        metadata: { name: refusedName },
        ...(spec !== undefined && { spec }),
      },
    });

  before(() => cluster.applyCrds());
  after(() => cluster.stop());

  for (const { says, spec, message } of refusedMonitors) {
    test(`a monitor with ${says} is refused, and the decoder names it too`, async () => {
      const answer = await create(monitors, 'CronJobMonitor', spec);
      assert.equal(answer.status, 422, JSON.stringify(answer.body));
      assert.ok(answer.body.message.includes(message), answer.body.message);
      const decoded = decodeMonitorSpec({ spec }, defaults);
      assert.ok(decoded.ok && decoded.problems.length > 0);
    });
  }

  for (const { says, spec } of acceptedMonitors) {
    test(`a monitor with ${says} is accepted, and what is stored decodes to the same`, async () => {
      const answer = await create(monitors, 'CronJobMonitor', spec, '?dryRun=All&fieldValidation=Strict');
      assert.equal(answer.status, 201, answer.body.message);
      const decoded = decodeMonitorSpec({ spec }, defaults);
      assert.ok(decoded.ok);
      assert.deepEqual(decoded.problems, []);
      assert.deepEqual(decodeMonitorSpec(answer.body, defaults), decoded);
    });
  }

  for (const { says, spec, message } of refusedChannels) {
    test(`a channel with ${says} is refused, and the decoder names it too`, async () => {
      const answer = await create(channels, 'AlertChannel', spec);
      assert.equal(answer.status, 422, JSON.stringify(answer.body));
      assert.ok(answer.body.message.includes(message), answer.body.message);
      assert.ok(decodeChannelSpec({ metadata: { name: refusedName }, spec }).problems.length > 0);
    });
  }

  for (const [type, spec] of Object.entries(wholeChannelSpecs)) {
    test(`a ${type} channel with every field is accepted, and what is stored decodes to the same`, async () => {
      const answer = await create(channels, 'AlertChannel', spec, '?dryRun=All&fieldValidation=Strict');
      assert.equal(answer.status, 201, answer.body.message);
      assert.deepEqual(decodeChannelSpec(answer.body), decodeChannelSpec({ spec }));
    });
  }

  test('a channel needs a spec', async () => {
    assert.equal((await create(channels, 'AlertChannel', undefined)).status, 422);
  });

  for (const [path, text] of [
    [monitors, exampleMonitor],
    [channels, exampleChannel],
  ] as const) {
    test(`the example of ${path.split('/').at(-1)} is accepted as it stands`, async () => {
      const answer = await cluster.request('POST', `${path}?dryRun=All&fieldValidation=Strict`, {
        body: parseYaml(text),
      });
      assert.equal(answer.status, 201, answer.body.message);
    });
  }

  test('defaults are visible in the stored object, those of the configuration are not', async () => {
    const { body } = await create(monitors, 'CronJobMonitor', {
      alerting: {},
      sla: {},
      dataRetention: {},
      selector: {},
    });
    assert.deepEqual(body.spec, {
      selector: { allNamespaces: false, fallback: false },
      missedSchedule: { enabled: true, grace: '2m', threshold: 1 },
      jobFailed: { enabled: true, failureThreshold: 1, recoveryThreshold: 1, includeManual: true },
      sla: {
        enabled: true,
        minSuccessRate: 95,
        windowDays: 7,
        minRuns: 1,
        countMissed: false,
        durationRegressionThreshold: 50,
        durationBaselineWindowDays: 14,
      },
      stuckJobs: { enabled: true, notStartedAfter: '10m', hopelessAfter: '2m', terminatingAfter: '10m' },
      suspendedHandling: { pauseMonitoring: true },
      allowOverrides: ['channel', 'severity', 'grace', 'max-duration', 'finish-by', 'mute-until', 'ignore'],
      alerting: {
        enabled: true,
        includeContext: {
          logs: true,
          logLines: 50,
          events: true,
          includeInitContainerLogs: false,
          podStatus: true,
          suggestedFixes: true,
        },
        remindEvery: '24h',
        renotifyOnChangedError: false,
      },
      dataRetention: { onCronJobDeletion: 'retain', onRecreation: 'retain' },
    });
  });

  test('no monitor is of several minds about its status: it is a subresource of its own', async () => {
    assert.equal((await create(monitors, 'CronJobMonitor', {}, '')).status, 201);
    const status = { phase: 'Active', totalCronJobs: 1 };
    const spec = { jobFailed: { failureThreshold: 9 } };
    const merge = { contentType: 'application/merge-patch+json' };
    const asStatus = await cluster.request('PATCH', `${monitors}/x/status`, { body: { status, spec }, ...merge });
    assert.deepEqual([asStatus.body.status, asStatus.body.spec.jobFailed.failureThreshold], [status, 1]);
    const asSpec = await cluster.request('PATCH', `${monitors}/x`, {
      body: { status: { phase: 'Error' }, spec },
      ...merge,
    });
    assert.deepEqual([asSpec.body.status, asSpec.body.spec.jobFailed.failureThreshold], [status, 9]);
    const bad = await cluster.request('PATCH', `${monitors}/x/status`, {
      body: { status: { phase: 'Fine' } },
      ...merge,
    });
    assert.equal(bad.status, 422);
  });

  test('kubectl shows phase, figures and age', async () => {
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const { body } = await cluster.request('GET', monitors, { headers: { accept } });
    assert.deepEqual(
      body.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'Phase', 'CronJobs', 'Healthy', 'Failing', 'Warning', 'Critical', 'Alerts', 'Age'],
    );
    const channelTable = await cluster.request('GET', channels, { headers: { accept } });
    assert.deepEqual(
      channelTable.body.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'Type', 'Ready', 'Last Alert', 'Age'],
    );
  });

  test('both kinds have their short names and scopes', async () => {
    const { body } = await cluster.request('GET', group);
    const found = body.resources.map((one: { name: string; namespaced: boolean; shortNames?: string[] }) =>
      [one.name, one.namespaced, one.shortNames?.join() ?? ''].join(' '),
    );
    assert.deepEqual(found.sort(), [
      'alertchannels false alch',
      'alertchannels/status false ',
      'cronjobmonitors true cjm',
      'cronjobmonitors/status true ',
    ]);
  });
});
