import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configKeys, variableOf } from './keys.ts';
import { readEnvironment } from './read-environment.ts';

test('every key has a variable of its own: MONITOR_, upper case, dots and hyphens as underscores', () => {
  assert.equal(variableOf('storage.postgres.ssl-mode'), 'MONITOR_STORAGE_POSTGRES_SSL_MODE');
  assert.equal(new Set(configKeys.map(variableOf)).size, configKeys.length);
  const all = Object.fromEntries(configKeys.map((key) => [variableOf(key), `value of ${key}`]));
  const { settings, problems } = readEnvironment(all);
  assert.deepEqual(problems, []);
  for (const key of configKeys) assert.equal(settings.get(key)?.given, `value of ${key}`);
});

test('an empty value is a value, a variable without the prefix is none of ours', () => {
  const { settings } = readEnvironment({ MONITOR_CLUSTER_NAME: '', CLUSTER_NAME: 'x', PATH: '/bin' });
  assert.deepEqual([...settings.keys()], ['cluster.name']);
  assert.deepEqual(settings.get('cluster.name'), {
    given: '',
    source: { from: 'environment', variable: 'MONITOR_CLUSTER_NAME' },
  });
});

test('an unknown variable is a problem that names the one that was meant, and never its value', () => {
  assert.deepEqual(readEnvironment({ MONITOR_STORAGE_POSTGRES_PASWORD: 'hunter2' }).problems, [
    'configuration: environment MONITOR_STORAGE_POSTGRES_PASWORD is no key; did you mean MONITOR_STORAGE_POSTGRES_PASSWORD?',
  ]);
  assert.deepEqual(readEnvironment({ MONITOR_: 'x', MONITOR_SOMETHING_ELSE: 'x' }).problems, [
    'configuration: environment MONITOR_ is no key',
    'configuration: environment MONITOR_SOMETHING_ELSE is no key',
  ]);
});

test('the path of the file is a flag only', () => {
  assert.deepEqual(readEnvironment({ MONITOR_CONFIG: '/a' }).problems, [
    'configuration: MONITOR_CONFIG: the path of the file is a flag only; use --config',
  ]);
});

test('the names that Kubernetes gives Services are ignored', () => {
  const links = {
    MONITOR_PORT: 'tcp://10.0.0.7:80',
    MONITOR_SERVICE_HOST: '10.0.0.7',
    MONITOR_SERVICE_PORT: '80',
    MONITOR_SERVICE_PORT_HTTP: '80',
    MONITOR_WEB_PORT: 'udp://10.0.0.7:80',
    MONITOR_WEB_PORT_80_TCP: 'tcp://10.0.0.7:80',
    MONITOR_WEB_PORT_80_TCP_PROTO: 'tcp',
    MONITOR_WEB_PORT_53_UDP_PORT: '53',
    MONITOR_WEB_PORT_53_UDP_ADDR: '10.0.0.7',
  };
  assert.deepEqual(readEnvironment(links), { settings: new Map(), problems: [], warnings: [] });
});

test('a name of a Service that has a value of a person is ignored with a warning', () => {
  assert.deepEqual(readEnvironment({ MONITOR_METRICS_PORT: '9443' }).warnings, [
    "environment MONITOR_METRICS_PORT is no key; it is taken for a Service's and ignored",
  ]);
});

test('a Service whose variable is that of a key gives its value to the key', () => {
  assert.equal(
    readEnvironment({ MONITOR_UI_PORT: 'tcp://10.0.0.7:80' }).settings.get('ui.port')?.given,
    'tcp://10.0.0.7:80',
  );
});
