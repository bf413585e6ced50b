import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonitorDetail, MonitorList } from '@cronjob-monitor/shared/contract';
import { forgetMonitor } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const spec = {
  selector: { matchLabels: { tier: 'backup' } },
  deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '25h' },
  sla: { enabled: true, minSuccessRate: 95, windowDays: 7, minRuns: 1, maxDuration: '45m' },
  alerting: {
    enabled: true,
    channelRefs: [
      { name: 'team-chat', severities: [] },
      { name: 'oncal', severities: ['critical'] },
    ],
  },
};
const conditions = [
  { type: 'Ready', status: 'True', reason: 'Evaluated', message: '', lastTransitionTime: '2026-11-20T00:00:00Z' },
  { type: 'ChannelsResolved', status: 'False', reason: 'ChannelNotFound', message: 'no AlertChannel is named "oncal"' },
];

async function twoMonitors(fleet: TestFleet): Promise<void> {
  const backup = await fleet.addCronJob({ name: 'backup' });
  const report = await fleet.addCronJob({ name: 'report', suspended: true });
  await fleet.addRuns(backup, { createdAt: testNow - hourMs });
  await fleet.addMonitor({ name: 'dr', phase: 'Degraded', spec, conditions }, [backup, report]);
  await fleet.addMonitor({ namespace: 'ops', name: 'all', evaluatedAt: undefined, phase: 'Pending' }, []);
}

async function list(fleet: TestFleet, query = ''): Promise<MonitorList> {
  const answer = await fleet.ask(`/api/v1/monitors${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as MonitorList;
}

test('tells each monitor with its rules, its problems and what it selects', async () => {
  await using fleet = await startFleet();
  await twoMonitors(fleet);
  const { items, pagination } = await list(fleet);
  assert.equal(pagination, undefined);
  const [all, dr] = items;
  assert.match(dr?.uid ?? '', /^[0-9a-f-]{36}$/);
  assert.deepEqual(
    { ...dr, uid: '' },
    {
      namespace: 'prod',
      name: 'dr',
      uid: '',
      phase: 'Degraded',
      cronJobCount: 2,
      summary: { healthy: 1, warning: 0, critical: 0, suspended: 1, running: 0, unknown: 1 },
      states: { critical: 0, warning: 0, failing: 0, unknown: 1, suspended: 0, healthy: 1 },
      activeAlerts: 0,
      findings: 0,
      rules: { maxTimeSinceLastSuccess: '25h', minSuccessRate: 95, windowDays: 7, maxDuration: '45m' },
      problems: ['ChannelsResolved: no AlertChannel is named "oncal"'],
      lastReconcile: new Date(testNow - 5_000).toISOString(),
      channels: ['team-chat', 'oncal'],
    },
  );
  assert.deepEqual(all?.rules, {
    maxTimeSinceLastSuccess: null,
    minSuccessRate: null,
    windowDays: null,
    maxDuration: null,
  });
  assert.deepEqual([all?.cronJobCount, all?.lastReconcile, all?.channels], [0, null, []]);
});

/** Query, and the names it gives in their order. */
const queries: readonly (readonly [string, readonly string[]])[] = [
  ['?namespace=ops', ['all']],
  ['?phase=Degraded,Error', ['dr']],
  ['?search=L', ['all']],
  ['?search=x', []],
  ['?sort=-name', ['dr', 'all']],
  ['?sort=namespace', ['all', 'dr']],
  ['?sort=phase', ['dr', 'all']],
  ['?sort=-cronJobCount', ['dr', 'all']],
  ['?sort=lastReconcile', ['dr', 'all']],
  ['?sort=-lastReconcile', ['dr', 'all']],
  ['?limit=1&offset=1', ['dr']],
];

test('filters, sorts and pages', async () => {
  await using fleet = await startFleet();
  await twoMonitors(fleet);
  for (const [query, names] of queries) {
    const { items } = await list(fleet, query);
    assert.deepEqual(
      items.map(({ name }) => name),
      names,
      query,
    );
  }
  assert.deepEqual((await list(fleet, '?limit=1')).pagination, { total: 2, limit: 1, offset: 0, hasMore: true });
  assert.equal((await fleet.ask('/api/v1/monitors?offset=1')).status, 400);
  assert.equal((await fleet.ask('/api/v1/monitors?phase=active')).status, 400);
});

test('tells one monitor with its spec, its channels and its CronJobs, worst first', async () => {
  await using fleet = await startFleet();
  await twoMonitors(fleet);
  const answer = await fleet.ask('/api/v1/monitors/prod/dr');
  assert.equal(answer.status, 200, answer.text);
  const detail = answer.json() as MonitorDetail;
  assert.deepEqual(detail.spec, spec);
  assert.deepEqual(detail.channels, [
    { name: 'team-chat', severities: ['critical', 'warning'], after: null, exists: false, type: null, ready: null },
    { name: 'oncal', severities: ['critical'], after: null, exists: false, type: null, ready: null },
  ]);
  assert.deepEqual([detail.generation, detail.observedGeneration, detail.totalCronJobs], [4, 4, 2]);
  assert.deepEqual(detail.conditions[0], {
    type: 'Ready',
    status: 'True',
    reason: 'Evaluated',
    message: '',
    lastTransitionTime: '2026-11-20T00:00:00.000Z',
    observedGeneration: null,
  });
  assert.deepEqual(
    detail.cronJobs.map(({ name, status, successRate, activeAlerts }) => [name, status, successRate, activeAlerts]),
    [
      ['report', 'unknown', null, 0],
      ['backup', 'healthy', 100, 0],
    ],
  );
  assert.equal(detail.cronJobsOmitted, 0);
});

test('404 says whether a monitor was never seen or deleted', async () => {
  await using fleet = await startFleet();
  const monitor = await fleet.addMonitor({ name: 'gone' }, []);
  await fleet.store.fenced(fleet.epoch, (tx) => forgetMonitor(tx, monitor.uid, testNow));
  for (const [path, reason] of [
    ['prod/gone', 'deleted'],
    ['prod/never', 'neverSeen'],
    ['prod/%00', 'neverSeen'],
  ]) {
    const answer = await fleet.ask(`/api/v1/monitors/${path}`);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.error().details?.kind, 'CronJobMonitor');
    assert.equal(answer.error().details?.reason, reason, path);
  }
});
