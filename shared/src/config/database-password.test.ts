import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aTemporaryFolder } from '../testing/index.ts';
import { readDatabasePassword } from './database-password.ts';
import { loadConfig } from './load.ts';

function password(flags: string[]): string | undefined {
  const { loaded } = loadConfig({ entryPoint: 'standalone', argv: flags, environment: {}, filePaths: [] });
  assert.ok(loaded);
  return readDatabasePassword(loaded.config, 'postgres');
}

test('the password is the value of its key, or the first line of its file, or none', (t) => {
  const folder = aTemporaryFolder(t, { one: ' hunter2 \r\nsecond\n', empty: '' });
  assert.equal(password(['--storage.postgres.password=hunter2']), 'hunter2');
  assert.equal(password([`--storage.postgres.password-file=${join(folder, 'one')}`]), ' hunter2 ');
  assert.equal(password([`--storage.postgres.password-file=${join(folder, 'empty')}`]), '');
  assert.equal(password([]), undefined);
});

test('a file that has gone is named with its key', () => {
  assert.throws(() => password(['--storage.postgres.password-file=/no/such']), {
    message: 'storage.postgres.password-file: file /no/such cannot be read: ENOENT',
  });
});
