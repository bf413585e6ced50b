import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EntryPoint } from './config-view.ts';
import { loadConfig } from './load.ts';

function warnings(argv: string[], entryPoint: EntryPoint = 'standalone'): readonly string[] {
  const { loaded } = loadConfig({ entryPoint, argv, environment: {}, filePaths: [] });
  assert.ok(loaded);
  return loaded.warnings;
}

const open = 'auth.mode = none (default): whoever reaches port 8080 of 0.0.0.0 may see and do everything';
const quiet = '--api.host=127.0.0.1';

test('an API without authentication on an address that others reach is told', () => {
  assert.deepEqual(warnings([]), [open]);
  assert.equal(warnings(['--api.host=::']).length, 1);
  for (const host of ['127.0.0.1', '::1', 'localhost']) assert.deepEqual(warnings([`--api.host=${host}`]), [], host);
  assert.deepEqual(warnings(['--auth.mode=token']), []);
  assert.deepEqual(warnings(['--ui.enabled=false']), []);
});

test('a controller serves no API', () => {
  const server = ['host', 'database', 'username'].map((name) => `--storage.mysql.${name}=x`);
  assert.deepEqual(warnings(['--storage.type=mysql', ...server], 'controller'), []);
  assert.deepEqual(warnings(['--storage.type=mysql', ...server], 'apiserver'), [open]);
});

test('reserved keys in use are told, at their default value too', () => {
  assert.deepEqual(warnings([quiet, '--rate-limits.max-remediations-per-hour=100', '--webhook.cert-name=tls.crt']), [
    'rate-limits.max-remediations-per-hour = 100 (flag --rate-limits.max-remediations-per-hour) is reserved: nothing is remediated',
    'webhook.cert-name = tls.crt (flag --webhook.cert-name) is reserved: no webhook is served yet',
  ]);
  assert.deepEqual(warnings([quiet]), []);
});
