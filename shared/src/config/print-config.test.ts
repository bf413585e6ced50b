import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { aTemporaryFolder } from '../testing/index.ts';
import { configKeys, rowOf } from './keys.ts';
import { loadConfig } from './load.ts';
import { printConfig } from './print-config.ts';
import { readYaml } from './read-file.ts';
import { presentConfig } from './redact.ts';

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
