import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alert, AlertHistory, AlertList, CronJobDetail, CronJobList } from '@cronjob-monitor/shared/contract';
import { findCronJob, relistAll } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const ids = { open: '019ab2c4-0000-7000-8000-000000000001', ended: '019ab2c4-0000-7000-8000-000000000002' };

/** A CronJob with an open alert and one of history, as the leader writes them. */
async function aFailedBackup(fleet: TestFleet): Promise<void> {
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [backup]);
  const known = await findCronJob(fleet.store, 'prod', 'backup');
  const [monitor] = (await fleet.store.sql.select('id').from('monitors')) as unknown as readonly { id: number }[];
  const id = (text: string): unknown => fleet.store.dialect.id16(text);
  const row = {
    monitor_id: monitor?.id,
    cronjob_id: known?.id,
    namespace: 'prod',
    cronjob_name: 'backup',
    severity_source: 'default',
    since_at: testNow - hourMs,
    detected_at: testNow,
    last_seen_at: testNow,
    message: 'Exit code 137 (OOMKilled)',
    count: 2,
    cause: 1,
    scope: 'namespace prod',
    context: JSON.stringify({
      jobName: 'backup-1',
      exitCode: 137,
      reason: 'OOMKilled',
      podStatus: { phase: 'Failed' },
    }),
  };
  await fleet.store.sql('alerts').insert({
    ...row,
    id: id(ids.open),
    fingerprint: id(ids.open),
    type: 'slaBreached',
    subject: 'successRate',
    severity: 'critical',
    state: 'active',
    figures: JSON.stringify({ measured: 85.7, limit: 95, unit: 'percent' }),
  });
  await fleet.store.sql('alerts').insert({
    ...row,
    id: id(ids.ended),
    fingerprint: id(ids.ended),
    type: 'jobFailed',
    severity: 'warning',
    state: 'resolved',
    ended_at: testNow - 60_000,
  });
  await fleet.store
    .sql('cronjobs')
    .where({ id: known?.id })
    .update({ worst_severity: 'critical', active_alerts: 1, state: 0 });
  await relistAll(fleet.store);
}

test('tells open alerts with what was told of them', async () => {
  await using fleet = await startFleet();
  await aFailedBackup(fleet);
  const answer = await fleet.ask('/api/v1/alerts');
  assert.equal(answer.status, 200, answer.text);
  const { items, total, bySeverity } = answer.json() as AlertList;
  assert.deepEqual([total, bySeverity], [1, { critical: 1, warning: 0 }]);
  const { verdict, ...shown } = items[0] as Alert;
  assert.deepEqual(
    { ...verdict, revision: '' },
    {
      state: 'critical',
      kind: 'slaBreached',
      words: '85.7 % succeeded (target 95 %)',
      cause: null,
      step: {
        action: 'openRun',
        words: 'Open the run',
        command: null,
        href: '/cronjobs/prod/backup/runs/backup-1',
      },
      change: null,
      logLine: null,
      since: new Date(testNow - hourMs).toISOString(),
      holds: [],
      told: { state: 'waiting', reason: null, word: null, until: null, channels: [] },
      findings: [],
      revision: '',
    },
  );
  assert.deepEqual(shown, {
    id: ids.open,
    type: 'slaBreached',
    subject: 'successRate',
    severity: 'critical',
    state: 'active',
    closeCause: null,
    suppressedBy: null,
    suppressedUntil: null,
    dueAt: null,
    title: 'prod/backup: success rate too low',
    message: 'Exit code 137 (OOMKilled)',
    cronjob: { namespace: 'prod', name: 'backup' },
    monitor: { namespace: 'prod', name: 'dr' },
    since: new Date(testNow - hourMs).toISOString(),
    detectedAt: new Date(testNow).toISOString(),
    endedAt: null,
    cause: 'capacity',
    scope: 'namespace prod',
    occurrences: 2,
    delayed: false,
    lastNotified: null,
    channelsNotified: [],
    told: { state: 'waiting', reason: null, word: null, until: null, channels: [] },
    acknowledgement: null,
    context: {
      jobName: 'backup-1',
      exitCode: 137,
      reason: 'OOMKilled',
      suggestedFix: null,
      measured: 85.7,
      limit: 95,
      unit: 'percent',
      podStatus: { phase: 'Failed', reason: null, node: null, restarts: null, waiting: null },
      hasLogs: null,
      hasEvents: null,
      absence: null,
    },
  });
});

test('shows the worst alert of a CronJob in the list and all of them in its detail', async () => {
  await using fleet = await startFleet();
  await aFailedBackup(fleet);
  const { items } = (await fleet.ask('/api/v1/cronjobs?status=critical')).json() as CronJobList;
  assert.deepEqual(
    [items[0]?.status, items[0]?.worstAlert?.id, items[0]?.worstAlert?.measured, items[0]?.sla.breached],
    ['critical', ids.open, 85.7, ['successRate']],
  );
  const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  assert.deepEqual(
    detail.activeAlerts.map(({ id }) => id),
    [ids.open],
  );
});

test('filters open alerts and those of history by whose fault they are', async () => {
  await using fleet = await startFleet();
  await aFailedBackup(fleet);
  for (const [query, found] of [
    ['?cause=capacity', 1],
    ['?cause=platform,application', 0],
    ['/history?cause=capacity', 1],
    ['/history?cause=configuration', 0],
  ] as const) {
    const { items } = (await fleet.ask(`/api/v1/alerts${query}`)).json() as AlertList;
    assert.equal(items.length, found, query);
  }
});

test('keeps history apart, paged', async () => {
  await using fleet = await startFleet();
  await aFailedBackup(fleet);
  const history = (await fleet.ask('/api/v1/alerts/history')).json() as AlertHistory;
  assert.deepEqual(
    history.items.map(({ id, state }) => [id, state]),
    [[ids.ended, 'resolved']],
  );
  assert.deepEqual(history.pagination, { total: 1, limit: 50, offset: 0, hasMore: false });
  const later = await fleet.ask(`/api/v1/alerts/history?since=${new Date(testNow).toISOString()}`);
  assert.deepEqual((later.json() as AlertHistory).items, []);
});

/** Path below /alerts, and the field it is refused for. */
const refused = [
  ['?state=resolved', 'state'],
  ['?id=x', 'id'],
  ['?offset=1', 'offset'],
  ['?severity=info', 'severity'],
  ['?cause=weather', 'cause'],
  ['/history?cause=weather', 'cause'],
  ['?sort=endedAt', 'sort'],
  ['/history?state=active', 'state'],
  ['/history?since=2026-11-21&until=2026-11-20', 'since'],
] as const;

test('refuses what is unknown', async () => {
  await using fleet = await startFleet();
  for (const [path, field] of refused) {
    const answer = await fleet.ask(`/api/v1/alerts${path}`);
    assert.equal(answer.status, 400, path);
    assert.equal(answer.error().details?.problems?.[0]?.field, field, path);
  }
  assert.deepEqual((await fleet.ask('/api/v1/alerts')).json(), {
    items: [],
    total: 0,
    bySeverity: { critical: 0, warning: 0 },
  });
});
