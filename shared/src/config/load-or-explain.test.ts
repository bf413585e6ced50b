import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordingLogger } from '../testing/index.ts';
import { configKeys, variableOf } from './keys.ts';
import { loadOrExplain, logConfig } from './load-or-explain.ts';

function explain(argv: string[], environment: Record<string, string> = {}) {
  let out = '';
  let error = '';
  const start = loadOrExplain(
    { entryPoint: 'controller', argv, environment, filePaths: [] },
    { out: (text) => void (out += text), error: (text) => void (error += text) },
  );
  return { status: 'exitStatus' in start ? start.exitStatus : undefined, start, out, error };
}

const works = [
  '--storage.type=postgres',
  ...['host', 'database', 'username'].map((name) => `--storage.postgres.${name}=x`),
];

test('hands out a configuration that works, without a word', () => {
  const { start, out, error } = explain(works);
  assert.ok('loaded' in start);
  assert.equal(out + error, '');
});

test('explains what is wrong on standard error, a line each, and ends with 2', () => {
  const { status, out, error } = explain(['--ui.port=x']);
  assert.equal(status, 2);
  assert.equal(out, '');
  assert.match(error, /^configuration: ui\.port = x .*\nconfiguration: storage\.type = sqlite .*\n$/);
});

test('help and version work with a broken configuration', () => {
  for (const flag of ['--help', '--version']) {
    const { status, error } = explain([flag, '--ui.port=x', '--config=/no/such.yaml'], { MONITOR_NOTHING: '1' });
    assert.equal(status, 0, flag);
    assert.equal(error, '', flag);
  }
  assert.equal(explain(['--version']).out, 'cronjob-monitor controller v0.1.0\n');
});

test('the help text has every key with its flag, variable, type and default', () => {
  const { out } = explain(['--help']);
  assert.match(out, /^Usage: cronjob-monitor controller /);
  for (const key of configKeys) assert.ok(out.includes(`\n  --${key}  ${variableOf(key)}\n`), key);
  assert.ok(out.includes('enum (debug, info, warn, error), default info\n'));
  assert.ok(out.includes('default own\n'));
  assert.ok(out.includes('string, default none\n'));
  assert.ok(out.includes('Port of both; 0 = any free port, logged. Not used by the controller.\n'));
});

test('--print-config prints, or explains and ends with 2', () => {
  const good = explain([...works, '--print-config']);
  assert.equal(good.status, 0);
  assert.match(good.out, /^log-level: info # default\n/);
  const bad = explain(['--print-config']);
  assert.equal(bad.status, 2);
  assert.equal(bad.out, '');
  assert.match(bad.error, /^configuration: storage\.type = sqlite/);
});

test('--print-config tells of files that are missing here and prints all the same; a start does not', () => {
  const missing = [...works, '--storage.spool-path=/no/such'];
  const printed = explain([...missing, '--print-config']);
  assert.equal(printed.status, 0);
  assert.match(printed.out, /spool-path: \/no\/such # flag/);
  assert.match(printed.error, /^configuration: storage\.spool-path = \/no\/such/);
  assert.equal(explain(missing).status, 2);
});

test('a start logs what is not at its default, and each warning, and no secret', () => {
  const { start } = explain([...works, '--storage.postgres.password=hunter2']);
  assert.ok('loaded' in start);
  const logger = new RecordingLogger();
  logConfig(start.loaded, logger);
  const [read, warning] = logger.lines;
  assert.equal(read?.message, 'configuration read');
  assert.deepEqual(read?.fields['changed'], {
    'storage.type': 'postgres (flag --storage.type)',
    'storage.postgres.host': 'x (flag --storage.postgres.host)',
    'storage.postgres.database': 'x (flag --storage.postgres.database)',
    'storage.postgres.username': 'x (flag --storage.postgres.username)',
    'storage.postgres.password': '*** (flag --storage.postgres.password)',
  });
  assert.equal(warning?.level, 'warn');
  assert.equal(JSON.stringify(logger.lines).includes('hunter2'), false);
});
