import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import type { Health, Stats } from '@cronjob-monitor/shared/contract';
import { systemClock } from '@cronjob-monitor/shared/process';
import { migrate, openStore, projectCronJob, type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { aCronJob, RecordingLogger } from '@cronjob-monitor/shared/testing';
import {
  Child,
  findFreePort,
  runOnPostgres,
  startFaultProxy,
  startPostgres,
  type FaultProxy,
  type DatabaseServer,
} from '../servers/index.ts';

const entry = fileURLToPath(new URL('../../apiserver/src/bin/apiserver.ts', import.meta.url));

/** A cluster at a port without a listener. */
const nowhere = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'nowhere',
  contexts: [{ name: 'nowhere', context: { cluster: 'nowhere', user: 'nobody' } }],
  clusters: [{ name: 'nowhere', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: {} }],
});

/** Metrics of the apiserver without their prefix, besides those of the runtime. */
const ownFamilies = [
  'api_refused_total',
  'api_request_duration_seconds',
  'api_requests_in_flight',
  'api_reviews_total',
  'api_streams',
  'build_info',
  'certificate_expiry_timestamp_seconds',
  'db_pool_connections',
  'db_query_seconds',
  'db_retries_total',
  'db_schema_version',
  'db_up',
  'event_loop_delay_seconds',
  'kube_request_seconds',
  'kube_requests_total',
  'scrape_seconds',
  'storage_volume_free_bytes',
  'storage_writable',
  'symptom',
];

interface Ports {
  readonly api: number;
  readonly probes: number;
  readonly metrics: number;
}

/** The apiserver as a process of its own, on a real database, with a Kubernetes API that cannot be reached. */
describe('the apiserver', () => {
  let postgres: DatabaseServer;
  let proxy: FaultProxy;
  let store: Store;
  let child: Child;
  let ports: Ports;
  const folder = mkdtempSync(join(tmpdir(), 'apiserver-'));

  const ask = (path: string) => fetch(`http://127.0.0.1:${ports.api}${path}`);
  const probe = (path: string) => fetch(`http://127.0.0.1:${ports.probes}${path}`);

  before(async () => {
    postgres = await startPostgres();
    const account = { host: '127.0.0.1', database: 'postgres', ...postgres };
    await runOnPostgres(account, 'create database monitor');
    proxy = await startFaultProxy({ port: postgres.port });
    const settings: ServerSettings = {
      type: 'postgres',
      host: '127.0.0.1',
      port: postgres.port,
      database: 'monitor',
      username: postgres.username,
      password: postgres.password,
      sslMode: 'disable',
      pool: { maxIdleConns: 1, maxOpenConns: 4, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0 },
    };
    store = openStore(settings, { clock: systemClock, log: new RecordingLogger() });
    ports = { api: await findFreePort(), probes: await findFreePort(), metrics: await findFreePort() };
    writeFileSync(join(folder, 'kubeconfig'), nowhere);
    const flags = [
      `--config=${join(folder, 'config.yaml')}`,
      '--storage.type=postgres',
      '--storage.postgres.host=127.0.0.1',
      `--storage.postgres.port=${proxy.port}`,
      '--storage.postgres.database=monitor',
      `--storage.postgres.username=${postgres.username}`,
      '--storage.postgres.ssl-mode=disable',
      `--cluster.kubeconfig=${join(folder, 'kubeconfig')}`,
      '--api.host=127.0.0.1',
      `--ui.port=${ports.api}`,
      `--probes.bind-address=127.0.0.1:${ports.probes}`,
      `--metrics.bind-address=127.0.0.1:${ports.metrics}`,
      '--metrics.secure=false',
    ];
    writeFileSync(join(folder, 'config.yaml'), '{}');
    child = new Child({
      command: process.execPath,
      args: [entry, ...flags],
      env: { MONITOR_STORAGE_POSTGRES_PASSWORD: postgres.password },
    });
  });
  after(async () => {
    await child.stop();
    await store.close();
    await proxy.close();
    await postgres.remove();
    rmSync(folder, { recursive: true });
  });

  it('serves before its schema is there, and says that it is migrating', async () => {
    await child.ready(async () => {
      const health = (await (await ask('/api/v1/health')).json()) as Health;
      assert.equal(health.storage, 'migrating');
    });
    const answer = await ask('/api/v1/stats');
    assert.equal(answer.status, 503);
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'MIGRATING');
    assert.match(
      await (await probe('/readyz')).text(),
      /^the schema of the database is 0, and this version serves \d+: the leading controller/,
    );
    assert.equal((await probe('/healthz')).status, 200);
  });

  it('answers as soon as the schema is there', async () => {
    await migrate(store, { version: '0.1.0' });
    await store.transaction((tx) => projectCronJob(tx, { facts: aCronJob(), seenAt: Date.now() }));
    await child.ready(async () => assert.equal((await probe('/readyz')).status, 200));
    const stats = (await (await ask('/api/v1/stats')).json()) as Stats;
    assert.equal(stats.totalCronJobs, 0, 'no monitor selects it');
    const health = (await (await ask('/api/v1/health')).json()) as Health;
    assert.equal(health.status, 'degraded', 'no controller leads');
  });

  it('says that the database is away, and recovers by itself', async () => {
    proxy.accept(false);
    proxy.reset();
    const away = await ask('/api/v1/stats');
    assert.equal(away.status, 503);
    assert.equal(away.headers.get('retry-after'), '5');
    assert.equal((await ask('/api/v1/health')).status, 503);
    assert.equal((await ask('/api/v1/whoami')).status, 200);
    proxy.accept(true);
    await child.ready(async () => assert.equal((await ask('/api/v1/stats')).status, 200));
  });

  it('serves metrics of its own', async () => {
    const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
    assert.match(text, /cronjob_monitor_api_request_duration_seconds_count\{.*route="\/api\/v1\/stats".*\} [1-9]/);
    assert.match(text, /cronjob_monitor_build_info\{version="0.1.0",entry_point="apiserver"\} 1/);
    const families = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name ?? '');
    const ours = families.flatMap((name) => /^cronjob_monitor_(.+)$/.exec(name)?.[1] ?? []).toSorted();
    assert.deepEqual(ours, ownFamilies, 'and none of those that the leader alone may tell');
    for (const name of families) assert.match(text, new RegExp(`^# HELP ${name} .+`, 'm'));
    assert.match(text, /^cronjob_monitor_db_up 1$/m);
    assert.match(text, /^cronjob_monitor_db_schema_version [1-9]/m);
    assert.match(text, /^cronjob_monitor_db_pool_connections\{state="idle"\} \d/m);
    assert.match(text, /^cronjob_monitor_db_query_seconds_count\{kind="read"\} [1-9]/m);
  });

  it('ends with 0 on SIGTERM, streams included', async () => {
    const stream = await ask('/api/v1/events/stream');
    assert.equal(stream.status, 200);
    child.signal('SIGTERM');
    await stream.text();
    assert.deepEqual(await child.ended(), { code: 0, signal: null });
  });
});
