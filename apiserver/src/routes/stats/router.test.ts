import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJob, Page, Stats } from '@cronjob-monitor/shared/contract';
import { type CronJobFacts, dayMs, hourMs } from '@cronjob-monitor/shared/domain';
import { addAlert } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

async function stats(fleet: TestFleet, query = ''): Promise<Stats> {
  const answer = await fleet.ask(`/api/v1/stats${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Stats;
}

const noSlots = {
  matched: 0,
  late: 0,
  missed: 0,
  skippedForbid: 0,
  skippedDeadline: 0,
  suspended: 0,
  unobserved: 0,
  indeterminate: 0,
};

test('an empty fleet has zeros, and no rate', async () => {
  await using fleet = await startFleet();
  assert.deepEqual(await stats(fleet), {
    totalMonitors: 0,
    totalCronJobs: 0,
    summary: { healthy: 0, warning: 0, critical: 0, suspended: 0, running: 0, unknown: 0 },
    states: { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 0 },
    channels: { total: 0, ready: 0 },
    activeAlerts: 0,
    executionsRecorded24h: 0,
    pendingAlerts: 0,
    suppressedAlerts: 0,
    acknowledgedAlerts: 0,
    successRate24h: null,
    slots24h: noSlots,
    lastEvaluation: null,
  });
});

test('counts a CronJob of two monitors once, and the runs of the last day', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  const etl = await fleet.addCronJob({ name: 'etl', namespace: 'data', suspended: true });
  await fleet.addMonitor({ name: 'one' }, [backup]);
  await fleet.addMonitor({ name: 'two', namespace: 'data' }, [backup, etl]);
  await fleet.addRuns(
    backup,
    { createdAt: testNow - hourMs },
    { createdAt: testNow - 2 * hourMs },
    { createdAt: testNow - 3 * hourMs, status: 'failed' },
    { createdAt: testNow - 4 * hourMs, trigger: 'manual', status: 'failed' },
    { createdAt: testNow - 2 * dayMs, status: 'failed' },
  );
  const all = await stats(fleet);
  assert.equal(all.totalMonitors, 2);
  assert.equal(all.totalCronJobs, 2);
  assert.deepEqual(all.summary, { healthy: 1, warning: 0, critical: 0, suspended: 1, running: 0, unknown: 1 });
  assert.equal(
    Object.values(all.states).reduce((sum, count) => sum + count, 0),
    all.totalCronJobs,
    'each counts once',
  );
  assert.equal(all.executionsRecorded24h, 4);
  assert.equal(all.successRate24h, 66.66);
  assert.deepEqual(all.slots24h, { ...noSlots, matched: 3 });
  const data = await stats(fleet, '?namespace=data');
  assert.deepEqual(
    [data.totalMonitors, data.totalCronJobs, data.executionsRecorded24h, data.successRate24h],
    [1, 1, 0, null],
  );
});

test('a figure of stats is the total of the list with the same filter', async () => {
  await using fleet = await startFleet();
  const cronJobs = await Promise.all(
    ['a', 'b', 'c'].map((name, index) => fleet.addCronJob({ name, suspended: index === 1 })),
  );
  await fleet.addMonitor({ namespace: 'prod', name: 'dr' }, cronJobs);
  await addAlert(fleet, { cronJobName: 'a', severity: 'critical' });
  await fleet.addRuns(cronJobs[2] as CronJobFacts, { createdAt: testNow - hourMs, status: 'failed' });
  const { summary, states } = await stats(fleet);
  assert.deepEqual(states, { critical: 1, warning: 0, failing: 1, unknown: 1, suspended: 0, healthy: 0 });
  for (const [state, count] of Object.entries(states)) {
    const { pagination, items } = (await fleet.ask(`/api/v1/cronjobs?state=${state}&limit=5`)).json() as Page<CronJob>;
    assert.equal(pagination.total, count, state);
    for (const { verdict } of items) assert.equal(verdict.state, state);
  }
  for (const [status, count] of Object.entries(summary)) {
    const { pagination } = (await fleet.ask(`/api/v1/cronjobs?status=${status}&limit=1`)).json() as {
      pagination: { total: number };
    };
    assert.equal(pagination.total, count, status);
  }
});
