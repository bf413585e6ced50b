import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '@cronjob-monitor/shared/config';
import { toApiSettings } from './settings.ts';

function settingsOf(...argv: readonly string[]) {
  const { loaded, problems } = loadConfig({
    entryPoint: 'apiserver',
    argv: ['--storage.type=postgres', '--storage.postgres.host=db', '--storage.postgres.database=m', ...argv],
    environment: { MONITOR_STORAGE_POSTGRES_USERNAME: 'ana', MONITOR_STORAGE_POSTGRES_PASSWORD: 'hunter2' },
    filePaths: [],
  });
  assert.ok(loaded, problems.join('\n'));
  return toApiSettings(loaded);
}

test('logs are kept as long as runs unless they have days of their own', () => {
  assert.equal(settingsOf().storage.logRetentionDays, 30);
  assert.equal(settingsOf('--storage.log-retention-days=7').storage.logRetentionDays, 7);
});

test('the host of the external address is one that may be asked for', () => {
  assert.equal(settingsOf().externalHost, undefined);
  assert.equal(settingsOf('--ui.external-url=https://cron.example.com:8443/x').externalHost, 'cron.example.com');
});

test('the configuration that is shown holds no secret and says where each value comes from', () => {
  const view = settingsOf().configView as { storage: { postgres: Record<string, unknown> }; sources: unknown };
  assert.equal(view.storage.postgres['password'], '***');
  assert.equal(view.storage.postgres['host'], 'db');
  assert.ok(!JSON.stringify(view).includes('hunter2'));
  assert.deepEqual(view.sources, {
    'storage.type': 'flag',
    'storage.postgres.host': 'flag',
    'storage.postgres.database': 'flag',
    'storage.postgres.username': 'environment',
    'storage.postgres.password': 'environment',
  });
});
