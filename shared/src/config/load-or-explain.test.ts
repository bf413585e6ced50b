import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { RecordingLogger, aTemporaryFolder } from '../testing/index.ts';
import { configKeys, idleKeys, variableOf, rowOf } from './keys.ts';
import { loadOrExplain, logConfig, printConfig, presentConfig } from './load-or-explain.ts';
import { loadConfig } from './load.ts';
import { readYaml } from './read-file.ts';

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
  for (const key of [...idleKeys.reserved, ...idleKeys.retired]) assert.equal(out.includes(key), false, key);
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

function load(argv: string[], environment: Record<string, string> = {}) {
  const { loaded, problems } = loadConfig({ entryPoint: 'standalone', argv, environment, filePaths: [] });
  assert.ok(loaded, problems.join('\n'));
  return loaded;
}

test('prints the form of a file, with the source of each value and secrets as ***', (t) => {
  const file = join(
    aTemporaryFolder(t, {
      'c.yaml': 'storage:\n  postgres:\n    host: db.prod.svc\n    database: d\n    username: u\n',
    }),
    'c.yaml',
  );
  const printed = printConfig(
    load([`--config=${file}`, '--ui.port', '0'], {
      MONITOR_STORAGE_TYPE: 'postgres',
      MONITOR_STORAGE_POSTGRES_PASSWORD: 'hunter2',
    }),
  );
  const lines = printed.split('\n');
  for (const line of [
    'log-level: info # default',
    'storage:',
    '  type: postgres # environment MONITOR_STORAGE_TYPE',
    '  postgres:',
    `    host: db.prod.svc # file ${file} line 3`,
    '    password: "***" # environment MONITOR_STORAGE_POSTGRES_PASSWORD',
    '    pool:',
    '      conn-max-lifetime: 1h # default',
    'ignored-namespaces: [kube-system, kube-public, kube-node-lease] # default',
    '  port: 0 # flag --ui.port',
    '  external-url: null # default',
    '  bind-address: ":8443" # default',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.equal(printed.includes('hunter2'), false);
});

test('what it prints is a file that gives every value again', () => {
  fc.assert(
    fc.property(
      fc.record({
        'cluster.name': fc
          .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
          .filter((name) => name.length <= 63),
        'cluster.context': fc.string({ minLength: 1 }),
        'storage.sqlite.path': fc.string({ minLength: 1 }).filter((path) => !path.includes('\0')),
        'auth.audiences': fc.array(fc.stringMatching(/^[^,]+$/), { maxLength: 3 }).map((items) => items.join(',')),
        'scheduler.prune-interval': fc.integer({ min: 1, max: 86_400 }).map((seconds) => `${seconds}s`),
        'ui.enabled': fc.boolean().map(String),
      }),
      (values) => {
        const loaded = load(Object.entries(values).map(([key, value]) => `--${key}=${value}`));
        const again = readYaml('again.yaml', printConfig(loaded));
        assert.deepEqual(again.problems, []);
        for (const key of configKeys) {
          const text = again.settings.get(key)?.given;
          const parsed = text === undefined ? { value: undefined } : rowOf(key).kind.parse(text);
          assert.deepEqual('value' in parsed ? parsed.value : parsed, loaded.config[key], key);
        }
      },
    ),
  );
});

test('the API shows keys nested, durations as text, nothing as null, secrets as ***, and what is not at its default', () => {
  const shown = presentConfig(
    load(['--ui.external-url=http://a.example/', '--heartbeat-url=http://hunter2/', '--ui.port=0'], {
      MONITOR_SCHEDULER_PRUNE_INTERVAL: '90m',
    }),
  );
  assert.equal(shown['log-level'], 'info');
  assert.equal(shown['heartbeat-url'], '***');
  const blocks = shown as unknown as Record<string, Record<string, unknown>>; // Blocks of the table, known to be there.
  assert.equal(blocks['scheduler']?.['prune-interval'], '90m');
  assert.equal(blocks['ui']?.['port'], 0);
  assert.equal(blocks['ui']?.['enabled'], true);
  assert.equal(blocks['cluster']?.['name'], null);
  assert.deepEqual(shown['ignored-namespaces'], ['kube-system', 'kube-public', 'kube-node-lease']);
  assert.equal(Object(blocks['storage']?.['postgres']).password, null);
  assert.equal(blocks['metrics']?.['bind-address'], ':8443');
  assert.deepEqual(shown.sources, {
    'heartbeat-url': 'flag',
    'scheduler.prune-interval': 'environment',
    'ui.port': 'flag',
    'ui.external-url': 'flag',
  });
  assert.equal(JSON.stringify(shown).includes('hunter2'), false);
});

test('the API shows reserved keys, which the specification has, and no retired one', () => {
  const { sources, ...shown } = presentConfig(load(['--webhook.enable-http2', '--auth.deny-cache=1s', '--ui.port=0']));
  assert.deepEqual(shown['webhook'], {
    'cert-path': null,
    'cert-name': 'tls.crt',
    'cert-key': 'tls.key',
    'enable-http2': true,
  });
  assert.ok('max-remediations-per-hour' in Object(shown['rate-limits']));
  assert.deepEqual(sources, { 'webhook.enable-http2': 'flag', 'ui.port': 'flag' });
  for (const key of idleKeys.retired)
    assert.doesNotMatch(JSON.stringify(shown), new RegExp(`"${key.split('.')[1]}"`), key);
});
