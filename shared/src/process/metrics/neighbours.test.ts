import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { FakeClock } from '../../testing/index.ts';
import { createNeighbourMetrics } from './neighbours.ts';

function someMetrics() {
  const registry = new Registry();
  const clock = new FakeClock();
  return { registry, clock, metrics: createNeighbourMetrics({ registry, clock }) };
}

test('requests to the API server count by verb, resource and status; without an answer it is an error', async () => {
  const { registry, metrics } = someMetrics();
  metrics.kubeAnswered({ verb: 'list', resource: 'jobs', status: 200, tookMs: 20 });
  metrics.kubeAnswered({ verb: 'list', resource: 'jobs', status: 429, tookMs: 1 });
  metrics.kubeAnswered({ verb: 'list', resource: 'jobs', status: undefined, tookMs: 10_000 });
  const text = await registry.metrics();
  for (const code of ['200', '429', 'error']) {
    assert.match(text, new RegExp(`kube_requests_total\\{verb="list",resource="jobs",code="${code}"\\} 1`));
  }
  assert.match(text, /kube_request_seconds_sum\{verb="list",resource="jobs"\} 10\.021/);
});

test('the database is up while a statement worked within 30 s, and not before the first', async () => {
  const { registry, clock, metrics } = someMetrics();
  const up = async () => /^cronjob_monitor_db_up (.)$/m.exec(await registry.metrics())?.[1];
  assert.equal(await up(), '0');
  metrics.store.statement('read')(false);
  assert.equal(await up(), '0');
  metrics.store.statement('read')(true);
  assert.equal(await up(), '1');
  await clock.advance(30_000);
  assert.equal(await up(), '1');
  await clock.advance(1);
  assert.equal(await up(), '0');
});

test('statements are timed by kind, retries counted by reason', async () => {
  const { registry, clock, metrics } = someMetrics();
  const ended = metrics.store.statement('write');
  await clock.advance(250);
  ended(true);
  metrics.store.repeated('deadlock');
  const text = await registry.metrics();
  assert.match(text, /db_query_seconds_bucket\{le="0\.25",kind="write"\} 1/);
  assert.match(text, /db_query_seconds_bucket\{le="0\.1",kind="write"\} 0/);
  assert.match(text, /db_retries_total\{reason="deadlock"\} 1/);
});

test('a schema that was not looked for has no series, and the pool is read at each scrape', async () => {
  const { registry, metrics } = someMetrics();
  assert.doesNotMatch(await registry.metrics(), /^cronjob_monitor_db_schema_version \d/m);
  metrics.store.schemaFound(2);
  let used = 3;
  metrics.watchPool(() => ({ used, idle: 1, waiting: 0 }));
  assert.match(await registry.metrics(), /^cronjob_monitor_db_schema_version 2$/m);
  assert.match(await registry.metrics(), /db_pool_connections\{state="used"\} 3/);
  used = 4;
  assert.match(await registry.metrics(), /db_pool_connections\{state="used"\} 4/);
});
