import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EntryPoint } from './config-view.ts';
import { loadConfig } from './load.ts';

const server = (type: string) => ['host', 'database', 'username'].map((name) => `--storage.${type}.${name}=x`);
const postgres = ['--storage.type=postgres', ...server('postgres')];

/** The lines about a controller on PostgreSQL with these flags, or about another entry point with these flags alone. */
function problems(flags: string[], entryPoint?: EntryPoint, environment: Record<string, string> = {}): string[] {
  const argv = entryPoint ? flags : [...postgres, ...flags];
  const result = loadConfig({ entryPoint: entryPoint ?? 'controller', argv, environment, filePaths: [] });
  return result.problems
    .filter((line) => !result.machineProblems.includes(line))
    .map((line) => line.replace(/^configuration: /, ''));
}

describe('storage', () => {
  test('sqlite is for standalone alone', () => {
    assert.deepEqual(problems([], 'controller'), [
      'storage.type = sqlite (default): two processes cannot share one file; use postgres or mysql, or start standalone',
    ]);
    assert.equal(problems(['--storage.type=sqlite'], 'apiserver').length, 1);
    assert.deepEqual(problems([], 'standalone'), []);
  });

  test('host, database and username are required of the server that is used', () => {
    assert.deepEqual(problems([], 'controller', { MONITOR_STORAGE_TYPE: 'postgres' }), [
      'storage.postgres.host is required when storage.type = postgres (environment MONITOR_STORAGE_TYPE)',
      'storage.postgres.database is required when storage.type = postgres (environment MONITOR_STORAGE_TYPE)',
      'storage.postgres.username is required when storage.type = postgres (environment MONITOR_STORAGE_TYPE)',
    ]);
    assert.equal(problems(['--storage.type=mysql', ...server('postgres')], 'controller').length, 3);
    assert.deepEqual(problems(['--storage.type=mysql', ...server('mysql')], 'controller'), []);
  });

  test('password and its file do not stand together', () => {
    const flags = ['--storage.mysql.password=hunter2', '--storage.mysql.password-file=/p'];
    assert.deepEqual(problems(flags), [
      'storage.mysql.password-file = /p (flag --storage.mysql.password-file) cannot stand together with ' +
        'storage.mysql.password = *** (flag --storage.mysql.password); allowed: one of the two',
    ]);
    for (const flag of flags) assert.deepEqual(problems([flag]), []);
  });

  test('idle connections are at most the open ones, whichever server is used', () => {
    assert.deepEqual(problems(['--storage.mysql.pool.max-open-conns=9']), [
      'storage.mysql.pool.max-idle-conns = 10 (default) must be at most ' +
        'storage.mysql.pool.max-open-conns = 9 (flag --storage.mysql.pool.max-open-conns)',
    ]);
    assert.deepEqual(problems(['--storage.mysql.pool.max-open-conns=10']), []);
  });
});

test('actions for other clusters need the name of the own one', () => {
  const flag = '--cluster.actions-key-file=/key';
  assert.deepEqual(problems([flag]), [
    'cluster.name is required when cluster.actions-key-file = /key (flag --cluster.actions-key-file) is given',
  ]);
  assert.deepEqual(problems([flag, '--cluster.name=eu']), []);
});

describe('history', () => {
  test('nothing is kept longer than max-days but daily figures, which are kept at least as long', () => {
    assert.deepEqual(problems(['--history-retention.max-days=29']), [
      'history-retention.default-days = 30 (default) must be at most history-retention.max-days = 29 (flag --history-retention.max-days)',
    ]);
    assert.deepEqual(problems(['--history-retention.max-days=401']), [
      'history-retention.rollup-days = 400 (default) must be at least history-retention.max-days = 401 (flag --history-retention.max-days)',
    ]);
    assert.equal(problems(['--storage.log-retention-days=91']).length, 1);
    assert.deepEqual(problems(['--storage.log-retention-days=90', '--history-retention.max-days=90']), []);
    assert.deepEqual(problems(['--history-retention.max-days=400']), []);
  });
});

describe('leader election', () => {
  test('the lease is longer than the renew deadline', () => {
    assert.deepEqual(problems(['--leader-election.lease-duration', '10s']), [
      'leader-election.lease-duration = 10s (flag --leader-election.lease-duration) must be longer than renew-deadline = 10s',
    ]);
    assert.deepEqual(problems(['--leader-election.lease-duration', '11s']), []);
  });

  test('the renew deadline is longer than 1.2 retries', () => {
    assert.deepEqual(problems(['--leader-election.renew-deadline=2s']), [
      'leader-election.renew-deadline = 2s (flag --leader-election.renew-deadline) must be longer than 1.2 x retry-period = 2.4s (default)',
    ]);
    assert.equal(problems(['--leader-election.renew-deadline=2400ms']).length, 1);
    assert.deepEqual(problems(['--leader-election.renew-deadline=2401ms']), []);
  });

  test('outside a cluster the namespace of the Lease is required', () => {
    const enabled = ['--leader-election.enabled'];
    assert.deepEqual(problems(enabled), [
      'leader-election.namespace is required outside a cluster when leader-election.enabled = true (flag --leader-election.enabled)',
    ]);
    assert.deepEqual(problems([...enabled, '--leader-election.namespace=monitor']), []);
    assert.deepEqual(problems([...enabled, ...postgres], 'apiserver'), []);
  });

  test('inside a cluster it is that of the pod, unless a kubeconfig leads elsewhere', () => {
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const flags = [...postgres, '--leader-election.enabled'];
    assert.deepEqual(problems(flags, 'controller', pod), []);
    assert.equal(problems(flags, 'controller', { ...pod, KUBECONFIG: '/k' }).length, 1);
    assert.equal(problems([...flags, '--cluster.kubeconfig=/k'], 'controller', pod).length, 1);
  });
});

describe('listeners and callers', () => {
  test('an apiserver without its API is refused, a standalone without it is not', () => {
    assert.deepEqual(problems([...postgres, '--ui.enabled=false'], 'apiserver'), [
      'ui.enabled = false (flag --ui.enabled): the apiserver has nothing else to do without cluster.actions-key-file; allowed: true, or do not start it',
    ]);
    const acting = ['--cluster.name=us', '--cluster.actions-key-file=key', '--ui.enabled=false'];
    assert.deepEqual(problems([...postgres, ...acting], 'apiserver'), []);
    assert.deepEqual(problems(['--ui.enabled=false'], 'standalone'), []);
    assert.deepEqual(problems(['--ui.enabled=false']), []);
  });

  test('two listeners cannot have one port, but for any free one', () => {
    assert.deepEqual(problems(['--probes.bind-address=:8443']), [
      'metrics.bind-address = :8443 (default) has the port of probes.bind-address = :8443 (flag --probes.bind-address); ' +
        'allowed: a port for each listener',
    ]);
    assert.equal(problems(['--ui.port=8081']).length, 1);
    assert.deepEqual(problems(['--ui.port=0', '--metrics.bind-address=:0', '--probes.bind-address=:0']), []);
    assert.deepEqual(problems(['--ui.port=8443', '--metrics.bind-address=0']), []);
  });

  test('a proxy needs its peers', () => {
    assert.deepEqual(problems(['--auth.mode=proxy']), [
      'auth.proxy.peers is required when auth.mode = proxy (flag --auth.mode)',
    ]);
    assert.deepEqual(problems(['--auth.mode=proxy', '--auth.proxy.peers=10.0.0.1']), []);
  });
});

test('a rule is silent while one of its keys could not be read', () => {
  assert.deepEqual(problems(['--leader-election.renew-deadline=2']).length, 1);
  assert.deepEqual(problems(['--storage.type=oracle'], 'controller').length, 1);
});
