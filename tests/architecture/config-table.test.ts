import {
  acceptedKeys,
  defaultText,
  loadConfig,
  loadOrExplain,
  logConfig,
  presentConfig,
  rowOf,
  variableOf,
  type AcceptedKey,
} from '@cronjob-monitor/shared/config';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { projectFolder } from './project-files.ts';

/** The table of the specification, section 2.7: key, type, default. */
const specification: readonly (readonly [key: string, type: string, fallback: string])[] = [
  ['log-level', 'string', 'info'],
  ['scheduler.dead-man-switch-interval', 'duration', '1m'],
  ['scheduler.sla-recalculation-interval', 'duration', '5m'],
  ['scheduler.stuck-job-check-interval', 'duration', '1m'],
  ['scheduler.prune-interval', 'duration', '1h'],
  ['scheduler.startup-grace-period', 'duration', '30s'],
  ['storage.type', 'string', 'sqlite'],
  ['storage.sqlite.path', 'string', '/data/guardian.db'],
  ...['postgres', 'mysql'].flatMap((type) => [
    ...['host', 'database', 'username', 'password'].map(
      (name) => [`storage.${type}.${name}`, 'string', 'none'] as const,
    ),
    [`storage.${type}.pool.max-idle-conns`, 'int', '10'] as const,
    [`storage.${type}.pool.max-open-conns`, 'int', '100'] as const,
    [`storage.${type}.pool.conn-max-lifetime`, 'duration', '1h'] as const,
    [`storage.${type}.pool.conn-max-idle-time`, 'duration', '10m'] as const,
  ]),
  ['storage.postgres.port', 'int', '5432'],
  ['storage.postgres.ssl-mode', 'string', 'require'],
  ['storage.mysql.port', 'int', '3306'],
  ['storage.log-storage-enabled', 'bool', 'false'],
  ['storage.event-storage-enabled', 'bool', 'false'],
  ['storage.max-log-size-kb', 'int', '100'],
  ['storage.log-retention-days', 'int', '0'],
  ['history-retention.default-days', 'int', '30'],
  ['history-retention.max-days', 'int', '90'],
  ['rate-limits.max-alerts-per-minute', 'int', '50'],
  ['rate-limits.burst-limit', 'int', '10'],
  ['rate-limits.default-suppress-duplicates-for', 'duration', '1h'],
  ['rate-limits.max-remediations-per-hour', 'int', 'none'],
  ['ui.enabled', 'bool', 'true'],
  ['ui.port', 'int', '8080'],
  ['metrics.bind-address', 'string', ':8443'],
  ['metrics.secure', 'bool', 'true'],
  ['metrics.cert-path', 'string', 'none'],
  ['metrics.cert-name', 'string', 'tls.crt'],
  ['metrics.cert-key', 'string', 'tls.key'],
  ['probes.bind-address', 'string', ':8081'],
  ['leader-election.enabled', 'bool', 'false'],
  ['leader-election.lease-duration', 'duration', '15s'],
  ['leader-election.renew-deadline', 'duration', '10s'],
  ['leader-election.retry-period', 'duration', '2s'],
  ['webhook.cert-path', 'string', 'none'],
  ['webhook.cert-name', 'string', 'tls.crt'],
  ['webhook.cert-key', 'string', 'tls.key'],
  ['webhook.enable-http2', 'bool', 'false'],
  ['ignored-namespaces', 'list', 'kube-system, kube-public, kube-node-lease'],
];

/** The words each of these settings of the specification may have. */
const wordLists: Readonly<Record<string, string>> = {
  'log-level': 'debug, info, warn, error',
  'storage.type': 'sqlite, postgres, mysql',
  'storage.postgres.ssl-mode': 'disable, require, verify-ca, verify-full',
};

describe('the table of the configuration', () => {
  for (const [key, type, fallback] of specification) {
    test(`has ${key}: ${type}, ${fallback}`, () => {
      const known = acceptedKeys.find((each) => each === key);
      assert.ok(known, 'no such key');
      const { kind } = rowOf(known);
      assert.equal(kind.name === 'enum' ? 'string' : kind.name, type);
      assert.equal(defaultText(known), fallback);
      if (key in wordLists) assert.equal(kind.allowed, wordLists[key]);
    });
  }

  test('gives each key its variable and its flag, and takes a value from both', () => {
    assert.equal(variableOf('storage.postgres.host'), 'MONITOR_STORAGE_POSTGRES_HOST');
    for (const key of acceptedKeys) {
      const wrong = rowOf(key).kind.isList ? ['', ' '].join(',') : '\0';
      const byFlag = loadConfig({
        entryPoint: 'standalone',
        argv: [`--${key}=${wrong}`],
        environment: {},
        filePaths: [],
      });
      const byVariable = loadConfig({
        entryPoint: 'standalone',
        argv: [],
        environment: { [variableOf(key)]: wrong },
        filePaths: [],
      });
      const sources = [byFlag, byVariable].map(({ problems, loaded }) => {
        const told = problems.some((line) => line.startsWith(`configuration: ${key} = `));
        return told || loaded?.settings.get(key)?.source.from !== 'default';
      });
      assert.deepEqual(sources, [true, true], key);
    }
  });
});

describe('a secret', () => {
  const secret = 'https://user:hunter2@hook.example/hunter2?token=hunter2';
  const sensitive = acceptedKeys.filter((key) => rowOf(key).sensitive);

  /** Everything that is ever shown of a configuration in which this key has the secret. */
  function everythingShown(
    key: AcceptedKey,
    request: { argv?: string[]; environment?: Record<string, string> },
  ): string {
    let shown = '';
    const output = { out: (text: string) => void (shown += text), error: (text: string) => void (shown += text) };
    const base = { entryPoint: 'standalone', argv: [], environment: {}, filePaths: [], ...request } as const;
    loadOrExplain({ ...base, argv: [...base.argv, '--print-config'] }, output);
    loadOrExplain({ ...base, argv: [...base.argv, `--${key}-x=${secret}`, '--ui.port=x'] }, output);
    const { loaded } = loadConfig(base);
    assert.ok(loaded, 'the configuration works');
    const logger = new RecordingLogger();
    logConfig(loaded, logger);
    return shown + JSON.stringify([presentConfig(loaded), logger.lines, loaded.warnings]);
  }

  test('is each password, and the address that is a password itself', () => {
    assert.deepEqual(sensitive, ['heartbeat-url', 'storage.postgres.password', 'storage.mysql.password']);
    const forgotten = acceptedKeys.filter(
      (key) => /password$|token$|secret$|heartbeat/.test(key) && !rowOf(key).sensitive,
    );
    assert.deepEqual(forgotten, []);
  });

  for (const key of sensitive) {
    test(`${key} is shown nowhere, and *** in its place`, () => {
      for (const request of [{ argv: [`--${key}=${secret}`] }, { environment: { [variableOf(key)]: secret } }]) {
        const shown = everythingShown(key, request);
        assert.equal(shown.includes('hunter2'), false);
        assert.ok(shown.includes('"***"'));
      }
    });
  }

  test('in the query or the user of another address is not shown either', () => {
    const wrong = loadConfig({
      entryPoint: 'standalone',
      argv: [`--ui.external-url=${secret}`],
      environment: {},
      filePaths: [],
    });
    assert.equal(wrong.problems.join().includes('token='), false);
    assert.equal(wrong.problems.join().includes('user:'), false);
  });
});

test('docs/configuration.md is what the table says', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/pages/configuration-page.mjs', '--check'], {
    cwd: projectFolder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});
