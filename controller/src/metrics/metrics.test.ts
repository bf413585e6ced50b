import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Registry } from 'prom-client';

import type {
  QueueMetrics,
  ReconcileMetrics as LoopMetrics,
  WatchMetrics as ReflectorMetrics,
} from '../runtime/index.ts';
import {
  LeadershipMetrics,
  ReconcileMetrics,
  SnapshotMetrics,
  UpkeepMetrics,
  WatchMetrics,
  WorkQueueMetrics,
} from './index.ts';

/** Name to type of all families, with or without series. */
async function families(registry: Registry): Promise<Record<string, string>> {
  const text = await registry.metrics();
  return Object.fromEntries([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
}

/** The lines of one family, without help and type. */
async function series(registry: Registry, name: string): Promise<string[]> {
  const text = await registry.metrics();
  return text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith(`${name}_bucket`));
}

test('reconciliations have all pairs of controller and result from the start', async () => {
  const registry = new Registry();
  const recorder: LoopMetrics = new ReconcileMetrics(registry).of('JobHandler');
  assert.deepEqual(await families(registry), {
    controller_runtime_reconcile_total: 'counter',
    controller_runtime_reconcile_errors_total: 'counter',
    controller_runtime_reconcile_time_seconds: 'histogram',
  });
  const total = await series(registry, 'controller_runtime_reconcile_total');
  assert.equal(total.length, 12);
  assert.ok(total.includes('controller_runtime_reconcile_total{controller="AlertChannel",result="requeue"} 0'));

  recorder.reconciled('success', 0.02);
  recorder.reconciled('requeue', 0.02);
  recorder.reconciled('error', 70);
  const text = await registry.metrics();
  for (const line of [
    'controller_runtime_reconcile_total{controller="JobHandler",result="success"} 1',
    'controller_runtime_reconcile_total{controller="JobHandler",result="requeue"} 1',
    'controller_runtime_reconcile_errors_total{controller="JobHandler"} 1',
    'controller_runtime_reconcile_errors_total{controller="CronJobHandler"} 0',
    'controller_runtime_reconcile_time_seconds_bucket{le="0.005",controller="JobHandler"} 0',
    'controller_runtime_reconcile_time_seconds_bucket{le="60",controller="JobHandler"} 2',
    'controller_runtime_reconcile_time_seconds_count{controller="JobHandler"} 3',
  ]) {
    assert.ok(text.includes(line), line);
  }
});

test('queues tell their depth at the scrape, and times in tenfold steps', async () => {
  const registry = new Registry();
  const metrics = new WorkQueueMetrics(registry);
  const recorder: QueueMetrics = metrics.of('CronJobHandler');
  metrics.trackDepth('CronJobHandler', () => 3);
  recorder.added();
  recorder.waited(0.5);
  recorder.worked(0.00005);
  assert.deepEqual(await families(registry), {
    workqueue_depth: 'gauge',
    workqueue_adds_total: 'counter',
    workqueue_queue_duration_seconds: 'histogram',
    workqueue_work_duration_seconds: 'histogram',
  });
  const text = await registry.metrics();
  for (const line of [
    'workqueue_depth{name="CronJobHandler"} 3',
    'workqueue_depth{name="JobHandler"} 0',
    'workqueue_adds_total{name="CronJobHandler"} 1',
    'workqueue_queue_duration_seconds_bucket{le="0.1",name="CronJobHandler"} 0',
    'workqueue_queue_duration_seconds_bucket{le="1",name="CronJobHandler"} 1',
    'workqueue_work_duration_seconds_bucket{le="1e-8",name="CronJobHandler"} 0',
    'workqueue_work_duration_seconds_bucket{le="0.0001",name="CronJobHandler"} 1',
    'workqueue_work_duration_seconds_bucket{le="10",name="JobHandler"} 0',
  ]) {
    assert.ok(text.includes(line), line);
  }
});

test('watches are counted by resource, age and objects asked for at the scrape', async () => {
  const registry = new Registry();
  const metrics = new WatchMetrics(registry);
  assert.deepEqual(await families(registry), {
    cronjob_monitor_watch_lists_total: 'counter',
    cronjob_monitor_watch_restarts_total: 'counter',
    cronjob_monitor_watch_unreadable_lines_total: 'counter',
    cronjob_monitor_watch_handler_errors_total: 'counter',
    cronjob_monitor_watch_age_seconds: 'gauge',
    cronjob_monitor_watch_objects: 'gauge',
  });
  let objects = 1;
  const recorder: ReflectorMetrics = metrics.of('jobs', { ageSeconds: () => 12.5, objects: () => objects });
  objects = 7;
  recorder.listed();
  recorder.restarted();
  recorder.restarted();
  recorder.handlerFailed();
  const text = await registry.metrics();
  for (const line of [
    'cronjob_monitor_watch_lists_total{resource="jobs"} 1',
    'cronjob_monitor_watch_restarts_total{resource="jobs"} 2',
    'cronjob_monitor_watch_unreadable_lines_total{resource="jobs"} 0',
    'cronjob_monitor_watch_handler_errors_total{resource="jobs"} 1',
    'cronjob_monitor_watch_age_seconds{resource="jobs"} 12.5',
    'cronjob_monitor_watch_objects{resource="jobs"} 7',
  ]) {
    assert.ok(text.includes(line), line);
  }
});

test('a follower leads with 0 and has no epoch; a leader has both', async () => {
  const registry = new Registry();
  const metrics = new LeadershipMetrics(registry);
  assert.deepEqual(await series(registry, 'cronjob_monitor_leader'), ['cronjob_monitor_leader 0']);
  assert.equal((await families(registry))['cronjob_monitor_leader_epoch'], 'gauge');
  metrics.leads(41);
  assert.deepEqual(await series(registry, 'cronjob_monitor_leader'), [
    'cronjob_monitor_leader 1',
    'cronjob_monitor_leader_epoch 41',
  ]);
  metrics.stopped();
  assert.deepEqual(await series(registry, 'cronjob_monitor_leader'), ['cronjob_monitor_leader 0']);
});

test('snapshots: those that wait are asked for, those given up are counted', async () => {
  const registry = new Registry();
  const metrics = new SnapshotMetrics(registry, () => 5);
  metrics.dropped();
  assert.deepEqual(await series(registry, 'cronjob_monitor_snapshots'), [
    'cronjob_monitor_snapshots_waiting 5',
    'cronjob_monitor_snapshots_dropped_total 1',
  ]);
});

test('what is removed is counted by kind, logs that were read by result, and daily figures that were wrong', async () => {
  const registry = new Registry();
  const metrics = new UpkeepMetrics(registry);
  assert.deepEqual(await families(registry), {
    cronjob_monitor_evidence_captures_total: 'counter',
    cronjob_monitor_prune_rows_total: 'counter',
    cronjob_monitor_rollup_mismatches_total: 'counter',
  });
  metrics.pruned('logs', 12);
  metrics.captured('ok');
  metrics.captured('podGone');
  const captures = await series(registry, 'cronjob_monitor_evidence_captures_total');
  assert.ok(captures.includes('cronjob_monitor_evidence_captures_total{result="ok"} 1'));
  assert.ok(captures.includes('cronjob_monitor_evidence_captures_total{result="timeout"} 0'));
  metrics.mismatched(2);
  const rows = await series(registry, 'cronjob_monitor_prune_rows_total');
  assert.ok(rows.includes('cronjob_monitor_prune_rows_total{kind="logs"} 12'));
  assert.ok(rows.includes('cronjob_monitor_prune_rows_total{kind="executions"} 0'));
  assert.deepEqual(await series(registry, 'cronjob_monitor_rollup_mismatches_total'), [
    'cronjob_monitor_rollup_mismatches_total 2',
  ]);
});
