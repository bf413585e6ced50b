import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../config/index.ts';
import { toStoreSettings } from './settings.ts';

function settingsOf(...argv: readonly string[]) {
  const { loaded, problems } = loadConfig({ entryPoint: 'standalone', argv, environment: {}, filePaths: [] });
  assert.ok(loaded, problems.join('\n'));
  return toStoreSettings(loaded.config);
}

test('a file of SQLite has a path and nothing else', () => {
  assert.deepEqual(settingsOf('--storage.sqlite.path=/tmp/monitor.db'), { type: 'sqlite', path: '/tmp/monitor.db' });
});

test('a server takes every key of its own block, durations in milliseconds', () => {
  const keys = ['host=db', 'database=monitor', 'username=ana', 'password=x', 'ssl-mode=verify-full', 'port=5433'];
  const pool = ['max-open-conns=20', 'max-idle-conns=3', 'conn-max-lifetime=30m'];
  const settings = settingsOf(
    '--storage.type=postgres',
    ...keys.map((key) => `--storage.postgres.${key}`),
    ...pool.map((key) => `--storage.postgres.pool.${key}`),
    '--storage.mysql.host=other',
  );
  assert.deepEqual(settings, {
    type: 'postgres',
    host: 'db',
    port: 5433,
    database: 'monitor',
    schema: undefined,
    username: 'ana',
    password: 'x',
    passwordFile: undefined,
    sslMode: 'verify-full',
    sslCaFile: undefined,
    pool: { maxIdleConns: 3, maxOpenConns: 20, connMaxLifetimeMs: 1_800_000, connMaxIdleTimeMs: 600_000 },
  });
});
