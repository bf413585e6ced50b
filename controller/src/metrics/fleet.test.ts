import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { exposeClocks, FleetMetrics, OutboundHeartbeatMetrics, SlaMetrics } from './index.ts';

async function lines(registry: Registry): Promise<string[]> {
  const text = await registry.metrics();
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace('cronjob_monitor_', ''));
}

test('the fleet is counted by status, phase and state, zeros included, and is gone with the lead', async () => {
  const registry = new Registry();
  const metrics = new FleetMetrics(registry);
  metrics.judged(['missed', 'missed', 'late']);
  metrics.counted({
    cronJobs: { healthy: 5, warning: 0, critical: 1, suspended: 2, running: 1, unknown: 0 },
    states: { critical: 1, warning: 0, failing: 3, unknown: 0, suspended: 2, healthy: 2 },
    monitors: new Map([['Active', 3]]),
    alerts: { active: 4, pending: 0, suppressed: 1 },
  });
  metrics.covered({ unwatched: 2, off: 0, nobody: 1, unreachable: 0, unproved: 0, reached: 4 });
  const told = await lines(registry);
  for (const line of [
    'cronjobs{status="suspended"} 2',
    'cronjobs{status="warning"} 0',
    'cronjob_states{state="failing"} 3',
    'cronjob_states{state="unknown"} 0',
    'coverage{state="unwatched"} 2',
    'coverage{state="off"} 0',
    'coverage{state="reached"} 4',
    'monitors{phase="Active"} 3',
    'monitors{phase="Error"} 0',
    'alerts_open{state="suppressed"} 1',
    'slots_total{outcome="missed"} 2',
    'slots_total{outcome="late"} 1',
    'slots_total{outcome="unobserved"} 0',
  ])
    assert.ok(told.includes(line), line);
  metrics.stopped();
  assert.deepEqual(
    (await lines(registry)).filter((line) => !line.startsWith('slots_total')),
    [],
  );
});

test('a clock that was not compared yet has no series, and one that is behind is below zero', async () => {
  const registry = new Registry();
  const offset: { apiserver?: number } = {};
  exposeClocks(registry, { apiserver: () => offset.apiserver, database: () => undefined });
  assert.deepEqual(await lines(registry), []);
  offset.apiserver = -31_500;
  assert.deepEqual(await lines(registry), ['clock_skew_seconds{against="apiserver"} -31.5']);
});

const measured = { namespace: 'prod', name: 'nightly', facts: new Map<string, number>() };
const durations = { avgMs: 1_500, p50Ms: 1_000, p95Ms: 2_000, p99Ms: 3_000 };

test('figures without data have no series', async () => {
  const registry = new Registry();
  const metrics = new SlaMetrics(registry);
  const rates = new Map([
    ['all', 97.5],
    ['ops/other', 0],
  ]);
  metrics.measured({ ...measured, rates, durations });
  assert.deepEqual(await lines(registry), [
    'success_rate{namespace="prod",cronjob="nightly",monitor="all"} 97.5',
    'success_rate{namespace="prod",cronjob="nightly",monitor="ops/other"} 0',
    'duration_seconds{namespace="prod",cronjob="nightly",percentile="avg"} 1.5',
    'duration_seconds{namespace="prod",cronjob="nightly",percentile="p50"} 1',
    'duration_seconds{namespace="prod",cronjob="nightly",percentile="p95"} 2',
    'duration_seconds{namespace="prod",cronjob="nightly",percentile="p99"} 3',
  ]);
  metrics.measured({ ...measured, rates: new Map([['all', 50]]), durations: undefined });
  assert.deepEqual(await lines(registry), ['success_rate{namespace="prod",cronjob="nightly",monitor="all"} 50']);
  metrics.measured({ ...measured, rates: new Map(), durations: undefined });
  assert.deepEqual(await lines(registry), []);
});

test('the rate of a monitor goes when it no longer selects the CronJob, everything with the last one', async () => {
  const registry = new Registry();
  const metrics = new SlaMetrics(registry);
  const rates = new Map([
    ['a', 1],
    ['b', 2],
  ]);
  metrics.measured({ ...measured, rates, durations });
  metrics.selectedBy(measured, new Set(['b']));
  assert.equal((await lines(registry)).length, 5);
  metrics.selectedBy(measured, new Set());
  assert.deepEqual(await lines(registry), []);
});

test('a heartbeat that never succeeded has no series', async () => {
  const registry = new Registry();
  const metrics = new OutboundHeartbeatMetrics(registry);
  assert.deepEqual(await lines(registry), []);
  metrics.succeeded(5_500);
  assert.deepEqual(await lines(registry), ['heartbeat_last_success_timestamp_seconds 5.5']);
});
