import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { VerdictMetrics, type CountedAlert } from './verdicts.ts';

const alert = (more: Partial<CountedAlert> = {}): CountedAlert => ({
  id: 'a',
  namespace: 'prod',
  cronJobName: 'nightly',
  severity: 'warning',
  isActive: true,
  ...more,
});

async function linesAfter(act: (metrics: VerdictMetrics) => void): Promise<string[]> {
  const registry = new Registry();
  act(new VerdictMetrics(registry, { blindSeconds: () => 0 }));
  const text = await registry.getSingleMetricAsString('cronjob_monitor_active_alerts');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

const series = (severity: string, value: number): string =>
  `cronjob_monitor_active_alerts{namespace="prod",cronjob="nightly",severity="${severity}"} ${value}`;

test('alerts of all monitors of a CronJob are counted together', async () => {
  const lines = await linesAfter((metrics) => {
    metrics.moved(alert());
    metrics.moved(alert({ id: 'b' }));
    metrics.moved(alert({ id: 'b' }));
  });
  assert.deepEqual(lines, [series('warning', 2)]);
});

test('the last one that ends leaves a 0', async () => {
  const lines = await linesAfter((metrics) => {
    metrics.begin([alert()]);
    metrics.moved(alert({ isActive: false }));
    metrics.moved(alert({ id: 'never active', isActive: false }));
  });
  assert.deepEqual(lines, [series('warning', 0)]);
});

test('one whose severity rose is counted there alone', async () => {
  const lines = await linesAfter((metrics) => {
    metrics.moved(alert());
    metrics.moved(alert({ severity: 'critical' }));
  });
  assert.deepEqual(lines, [series('warning', 0), series('critical', 1)]);
});
