import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFlags } from './read-flags.ts';

/** What flags gave, by key. */
function given(argv: string[]): Record<string, unknown> {
  return Object.fromEntries([...readFlags(argv).settings].map(([key, setting]) => [key, setting.given]));
}

test('reads a value behind = and as the next argument', () => {
  assert.deepEqual(given(['--storage.type=postgres', '--ui.port', '0']), {
    'storage.type': 'postgres',
    'ui.port': '0',
  });
});

test('keeps everything behind the first =, and an empty value', () => {
  assert.deepEqual(given(['--heartbeat-url=http://a?b=c', '--cluster.name=']), {
    'heartbeat-url': 'http://a?b=c',
    'cluster.name': '',
  });
});

test('a bool alone means true, and takes true or false as the next argument', () => {
  assert.deepEqual(given(['--api.read-only', '--ui.port', '1']), { 'api.read-only': 'true', 'ui.port': '1' });
  assert.deepEqual(given(['--ui.enabled', 'false', '--metrics.secure=false']), {
    'ui.enabled': 'false',
    'metrics.secure': 'false',
  });
});

test('takes a value that begins with one hyphen, and none that looks like a flag', () => {
  assert.deepEqual(given(['--ui.port', '-1']), { 'ui.port': '-1' });
  assert.deepEqual(readFlags(['--ui.port', '--api.read-only']).problems, [
    'configuration: ui.port (flag --ui.port) needs a value',
  ]);
  assert.deepEqual(readFlags(['--cluster.name']).problems, [
    'configuration: cluster.name (flag --cluster.name) needs a value',
  ]);
});

test('counts the last of several flags of one key', () => {
  assert.deepEqual(given(['--ui.port=1', '--ui.port=2']), { 'ui.port': '2' });
});

test('names an unknown flag with the key that was meant, and never the value behind it', () => {
  assert.deepEqual(readFlags(['--storage.typ', 'x']).problems, [
    'configuration: storage.typ (flag --storage.typ) is no key; did you mean storage.type?',
  ]);
  const { problems } = readFlags(['--pasword', 'hunter2', '-p', 'hunter2', '--nothing-like-it=hunter2']);
  assert.equal(problems.length, 3);
  assert.equal(problems.join('\n').includes('hunter2'), false);
});

test('refuses an argument that is no flag', () => {
  assert.deepEqual(readFlags(['start']).problems, ['configuration: argument start is no flag; flags begin with --']);
});

test('tells what is asked for besides values', () => {
  assert.equal(readFlags([]).wants, 'run');
  assert.equal(readFlags(['--print-config']).wants, 'print-config');
  assert.equal(readFlags(['--print-config', '--version', '--help']).wants, 'help');
  assert.equal(readFlags(['--config', '/a']).configPath, '/a');
  assert.deepEqual(readFlags(['--help=yes', '--config']).problems, [
    'configuration: flag --help takes no value',
    'configuration: config (flag --config) needs a value',
  ]);
});

test('warns of a secret in a flag without telling it', () => {
  const { warnings } = readFlags(['--storage.postgres.password=hunter2']);
  assert.deepEqual(warnings, [
    'storage.postgres.password (flag --storage.postgres.password) is a secret, and other users of this machine can read' +
      ' flags; use MONITOR_STORAGE_POSTGRES_PASSWORD',
  ]);
});
