import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { DeliveryMetrics } from './index.ts';

async function series(registry: Registry, name: string): Promise<string[]> {
  const text = await registry.metrics();
  return text.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line));
}

test('families are there from the start, with the names that people alert on', async () => {
  const registry = new Registry();
  const metrics = new DeliveryMetrics(registry);
  const text = await registry.metrics();
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  assert.deepEqual(families, [
    'cronjob_monitor_alerts_total counter',
    'cronjob_monitor_alerts_failed_total counter',
    'cronjob_monitor_alerts_suppressed_total counter',
    'cronjob_monitor_deliveries gauge',
    'cronjob_monitor_deliveries_total counter',
    'cronjob_monitor_delivery_queue_age_seconds gauge',
    'cronjob_monitor_delivery_send_seconds histogram',
    'cronjob_monitor_notification_lag_seconds histogram',
    'cronjob_monitor_channel_ready gauge',
    'cronjob_monitor_channel_consecutive_failures gauge',
    'cronjob_monitor_channel_hold gauge',
    'cronjob_monitor_channel_proved_timestamp_seconds gauge',
    'cronjob_monitor_channel_not_proved gauge',
    'cronjob_monitor_alertmanager_peers gauge',
  ]);
  assert.deepEqual(await series(registry, 'cronjob_monitor_delivery_queue_age_seconds'), []);
  metrics.outbox({ ready: 2, dead: 1 }, 12);
  assert.deepEqual(await series(registry, 'cronjob_monitor_delivery_queue_age_seconds'), [
    'cronjob_monitor_delivery_queue_age_seconds 12',
  ]);
  metrics.stopped();
  assert.deepEqual(await series(registry, 'cronjob_monitor_deliveries'), []);
});

test('an end is no alert unless it is the first notice, tests and digests are info of no CronJob, failures count whatever they tell of', async () => {
  const registry = new Registry();
  const metrics = new DeliveryMetrics(registry);
  const alert = { type: 'deadManTriggered', namespace: 'prod', cronJobName: 'nightly' } as const;
  const of = { severity: 'critical', channel: 'team', alert } as const;
  metrics.sent({ ...of, kind: 'firing' }, 2);
  metrics.sent({ ...of, kind: 'closing' }, undefined);
  metrics.sent({ ...of, kind: 'closing', isFirstNotice: true }, undefined);
  metrics.sent({ ...of, kind: 'digest', alert: undefined }, undefined);
  metrics.sent({ ...of, kind: 'test', alert: undefined }, undefined);
  metrics.failed({ ...of, kind: 'closing' });
  const named = 'namespace="prod",cronjob="nightly",type="DeadManSwitch",severity="critical",channel="team"';
  const nobody = (type: string) => `namespace="",cronjob="",type="${type}",severity="info",channel="team"`;
  assert.deepEqual(await series(registry, 'cronjob_monitor_alerts_total'), [
    `cronjob_monitor_alerts_total{${named}} 2`,
    `cronjob_monitor_alerts_total{${nobody('Digest')}} 1`,
    `cronjob_monitor_alerts_total{${nobody('Test')}} 1`,
  ]);
  assert.deepEqual(await series(registry, 'cronjob_monitor_alerts_failed_total'), [
    `cronjob_monitor_alerts_failed_total{${named}} 1`,
  ]);
  assert.equal((await series(registry, 'cronjob_monitor_deliveries_total')).length, 4);
});

test('a channel that is gone loses its series, and a hold is one of three', async () => {
  const registry = new Registry();
  const metrics = new DeliveryMetrics(registry);
  metrics.channels([{ name: 'a', ready: true, failuresInRow: 0, hold: undefined }]);
  metrics.channels([{ name: 'b', ready: false, failuresInRow: 6, hold: 'circuit' }]);
  assert.deepEqual(await series(registry, 'cronjob_monitor_channel_ready'), [
    'cronjob_monitor_channel_ready{channel="b"} 0',
  ]);
  assert.deepEqual(await series(registry, 'cronjob_monitor_channel_hold'), [
    'cronjob_monitor_channel_hold{channel="b",hold="circuit"} 1',
    'cronjob_monitor_channel_hold{channel="b",hold="parked"} 0',
    'cronjob_monitor_channel_hold{channel="b",hold="invalid"} 0',
  ]);
});
