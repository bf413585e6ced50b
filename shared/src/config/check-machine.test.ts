import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { aTemporaryFolder } from '../testing/index.ts';
import type { EntryPoint } from './config-view.ts';
import { loadConfig } from './load.ts';

const postgres = [
  '--storage.type=postgres',
  ...['host', 'database', 'username'].map((name) => `--storage.postgres.${name}=x`),
];

/** The lines about files and folders, without what all of them begin with. */
function problems(argv: string[], entryPoint: EntryPoint = 'controller'): string[] {
  const { machineProblems } = loadConfig({ entryPoint, argv, environment: {}, filePaths: [] });
  return machineProblems.map((line) => line.replace(/^configuration: /, ''));
}

test('the folder of the SQLite file must exist', (t) => {
  const folder = aTemporaryFolder(t);
  assert.deepEqual(problems([`--storage.sqlite.path=${folder}/no/x.db`], 'standalone'), [
    `storage.sqlite.path = ${folder}/no/x.db (flag --storage.sqlite.path): folder ${folder}/no does not exist; ` +
      'allowed: a folder that can be written',
  ]);
  assert.deepEqual(problems([`--storage.sqlite.path=${folder}/x.db`], 'standalone'), []);
  assert.equal(problems([`--storage.sqlite.path=${folder}`], 'standalone').length, 1);
});

test('the folder of the SQLite file must be writable', () => {
  // Nothing is unwritable for root: a child of another user asks.
  const load = fileURLToPath(new URL('load.ts', import.meta.url));
  const script = `import { loadConfig } from '${load}';
    const { machineProblems } = loadConfig({ entryPoint: 'standalone', argv: ['--storage.sqlite.path=/x.db'], environment: {}, filePaths: [] });
    process.stdout.write(machineProblems.join());`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    ...(process.getuid?.() === 0 ? { uid: 65_534 } : {}),
  });
  assert.match(stdout, /folder \/ cannot be written; allowed: a folder that can be written$/);
});

test('the SQLite file is read and written by its owner alone', () => {
  assert.deepEqual(problems(postgres, 'standalone'), []);
  assert.deepEqual(problems(['--storage.sqlite.path=/no/x.db'], 'controller'), []);
});

test('files of the database in use must be readable', (t) => {
  const folder = aTemporaryFolder(t, { 'ca.pem': 'x' });
  const flags = (path: string) => [
    ...postgres,
    `--storage.postgres.password-file=${path}`,
    `--storage.postgres.ssl-ca=${path}`,
  ];
  assert.deepEqual(problems(flags(join(folder, 'ca.pem'))), []);
  assert.equal(problems(flags(join(folder, 'no.pem'))).length, 2);
  assert.equal(problems(flags(folder)).length, 2);
  assert.deepEqual(problems([...postgres, '--storage.mysql.ssl-ca=/no/such.pem']), []);
});

test('the key of actions must be a file of 32 bytes or more where an API is served', (t) => {
  const folder = aTemporaryFolder(t, { short: 'x'.repeat(31), key: 'x'.repeat(32) });
  const flags = (name: string) => [
    ...postgres,
    '--cluster.name=eu',
    `--cluster.actions-key-file=${join(folder, name)}`,
  ];
  assert.deepEqual(problems(flags('key'), 'apiserver'), []);
  assert.match(problems(flags('short'), 'apiserver').join(), /holds 31 bytes; allowed: 32 or more/);
  assert.equal(problems(flags('none'), 'apiserver').length, 1);
  assert.deepEqual(problems(flags('none')), []);
});

test('the folder of the spool must exist where a controller runs', (t) => {
  const flag = (path: string) => [...postgres, `--storage.spool-path=${path}`];
  assert.equal(problems(flag('/no/such')).length, 1);
  assert.deepEqual(problems(flag('/no/such'), 'apiserver'), []);
  assert.deepEqual(problems(flag(aTemporaryFolder(t))), []);
});

test('both files of the certificate must be readable, if HTTPS is served with them', (t) => {
  const folder = aTemporaryFolder(t, { 'tls.crt': 'x' });
  const flags = [...postgres, `--metrics.cert-path=${folder}`];
  assert.deepEqual(problems(flags), [
    `metrics.cert-path = ${folder} (flag --metrics.cert-path): file ${folder}/tls.key cannot be read; allowed: a file that can be read`,
  ]);
  assert.deepEqual(problems([...flags, '--metrics.cert-key=tls.crt']), []);
  assert.deepEqual(problems([...flags, '--metrics.secure=false']), []);
  assert.deepEqual(problems([...flags, '--metrics.bind-address=0']), []);
});

test('a named kubeconfig must be readable', () => {
  assert.equal(problems([...postgres, '--cluster.kubeconfig=/no/such']).length, 1);
});
