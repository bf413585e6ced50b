import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { ProductMetrics } from './product.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

test('the counters of a CronJob that is gone end an hour later, those of one that came back go on', async () => {
  const registry = new Registry();
  const metrics = new ProductMetrics(registry);
  const watched = new Set(['prod/stays', 'prod/goes', 'prod/returns']);
  for (const name of ['stays', 'goes', 'returns']) metrics.watched({ namespace: 'prod', name });
  const look = (nowMs: number) =>
    metrics.forgetVanished(({ namespace, name }) => watched.has(`${namespace}/${name}`), nowMs);
  const named = async (): Promise<string[]> => {
    const text = await registry.getSingleMetricAsString('cronjob_monitor_executions_total');
    return [...new Set([...text.matchAll(/cronjob="(\w+)"/g)].map(([, name]) => name ?? ''))].toSorted();
  };
  look(0);
  watched.delete('prod/goes');
  watched.delete('prod/returns');
  look(1_000);
  watched.add('prod/returns');
  look(hourMs);
  watched.delete('prod/returns');
  assert.deepEqual(await named(), ['goes', 'returns', 'stays']);
  look(hourMs + 1_000);
  assert.deepEqual(await named(), ['returns', 'stays']);
  look(2 * hourMs + 1_000);
  assert.deepEqual(await named(), ['stays']);
});
