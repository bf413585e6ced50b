import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aTemporaryFolder } from '../testing/index.ts';
import { loadConfig, type LoadRequest, readEnvironment, readFlags } from './load.ts';
import { acceptedKeys, idleKeys, rowOf, variableOf } from './keys.ts';
import type { EntryPoint } from './config-view.ts';

const nowhere = { argv: [], environment: {}, filePaths: [] };

/** What a controller on PostgreSQL is given so that nothing else is wrong with it. */
const postgres = [
  '--storage.type=postgres',
  '--storage.postgres.host=db',
  '--storage.postgres.database=d',
  '--storage.postgres.username=u',
];

function load(request: Partial<LoadRequest>) {
  return loadConfig({ entryPoint: 'controller', ...nowhere, ...request });
}

/** The lines that stop the start of a controller that would otherwise work. */
function problems(argv: string[], environment: Record<string, string> = {}): readonly string[] {
  return load({ argv: [...postgres, ...argv], environment }).problems;
}

describe('where a value comes from', () => {
  const yaml = 'ui: {port: 1}\nhistory-retention: {max-days: 91, alert-days: 91}\n';

  test('flags win over the environment, the environment over the file, the file over the default, each key alone', (t) => {
    const file = join(aTemporaryFolder(t, { 'config.yaml': yaml }), 'config.yaml');
    const { loaded } = load({
      argv: [...postgres, '--ui.port=3', '--config', file],
      environment: { MONITOR_UI_PORT: '2', MONITOR_HISTORY_RETENTION_MAX_DAYS: '92' },
    });
    assert.ok(loaded);
    assert.equal(loaded.config['ui.port'], 3);
    assert.equal(loaded.config['history-retention.max-days'], 92);
    assert.equal(loaded.config['history-retention.alert-days'], 91);
    assert.equal(loaded.config['history-retention.rollup-days'], 400);
    assert.deepEqual(
      (
        [
          'ui.port',
          'history-retention.max-days',
          'history-retention.alert-days',
          'history-retention.rollup-days',
        ] as const
      ).map((key) => loaded.settings.get(key)?.source.from),
      ['flag', 'environment', 'file', 'default'],
    );
  });

  test('a file is searched in the given places, and none has to be there', (t) => {
    const folder = aTemporaryFolder(t, { 'b.yaml': yaml });
    const { loaded } = load({ argv: postgres, filePaths: [join(folder, 'a.yaml'), join(folder, 'b.yaml')] });
    assert.equal(loaded?.config['ui.port'], 1);
    assert.equal(load({ argv: postgres }).loaded?.config['ui.port'], 8080);
  });

  test('values have the types of their rows', () => {
    const { loaded } = load({ argv: [...postgres, '--metrics.bind-address=0', '--ignored-namespaces='] });
    assert.ok(loaded);
    assert.equal(loaded.config['scheduler.prune-interval'], 3_600_000);
    assert.equal(loaded.config['metrics.secure'], true);
    assert.equal(loaded.config['metrics.bind-address'], 'off');
    assert.deepEqual(loaded.config['probes.bind-address'], { host: undefined, port: 8081 });
    assert.deepEqual(loaded.config['ignored-namespaces'], []);
    assert.equal(loaded.config['cluster.name'], undefined);
    assert.equal(loaded.config['channels.secret-namespaces'], undefined);
  });

  test('what a pod and kubectl use is read too, and nothing else', () => {
    const environment = {
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBECONFIG: '/k',
      HOME: '/h',
    };
    assert.deepEqual(load({ argv: postgres, environment }).loaded?.surroundings, {
      kubeconfig: '/k',
      apiServer: { host: '10.0.0.1', port: '443' },
    });
    assert.deepEqual(load({ argv: postgres, environment: { KUBECONFIG: '' } }).loaded?.surroundings, {
      kubeconfig: undefined,
      apiServer: undefined,
    });
  });
});

describe('what stops the start', () => {
  test('a text that does not fit is told with its key, value, source and what is allowed', () => {
    assert.deepEqual(problems([], { MONITOR_SCHEDULER_PRUNE_INTERVAL: '90' }), [
      'configuration: scheduler.prune-interval = 90 (environment MONITOR_SCHEDULER_PRUNE_INTERVAL) is no duration; allowed: 1s to 24h, such as 90s',
    ]);
    assert.deepEqual(problems(['--log-level=loud']), [
      'configuration: log-level = loud (flag --log-level) is unknown; allowed: debug, info, warn, error',
    ]);
    assert.deepEqual(problems(['--storage.postgres.port=0']), [
      'configuration: storage.postgres.port = 0 (flag --storage.postgres.port) is out of range; allowed: 1 to 65535',
    ]);
    assert.deepEqual(problems(['--cluster.name=']), [
      'configuration: cluster.name = "" (flag --cluster.name) is empty; allowed: 1 to 63 characters',
    ]);
  });

  test('the value of a file is told with its line', (t) => {
    const file = join(aTemporaryFolder(t, { 'c.yaml': '\nui:\n  port: 1_0\n' }), 'c.yaml');
    assert.deepEqual(problems([`--config=${file}`]), [
      `configuration: ui.port = 1_0 (file ${file} line 3) is not a number; allowed: 0 to 65535`,
    ]);
  });

  test('the address of a Service where a port should be is told as such', () => {
    assert.deepEqual(problems([], { MONITOR_UI_PORT: 'tcp://10.0.0.7:8080' }), [
      'configuration: ui.port = tcp://10.0.0.7:8080 (environment MONITOR_UI_PORT) is not a number; a Service link? set enableServiceLinks: false',
    ]);
  });

  test('a secret that does not fit is not told', () => {
    assert.deepEqual(problems(['--heartbeat-url=hunter2']), [
      'configuration: heartbeat-url = *** (flag --heartbeat-url) is no http or https URL; allowed: an http or https URL',
    ]);
  });

  test('everything is told at once: flags, variables, file, values, rules between keys', (t) => {
    const file = join(aTemporaryFolder(t, { 'c.yaml': 'log: info\nui: {port: x}\n' }), 'c.yaml');
    const found = load({
      argv: ['--config', file, '--nothing', '--storage.type=mysql'],
      environment: { MONITOR_NOTHING: '1' },
    }).problems;
    assert.equal(found.length, 4 + 3);
    assert.ok(found.every((line) => line.startsWith('configuration: ')));
  });

  test('an unreadable file is told alone, without rules that would only meet the defaults', () => {
    assert.deepEqual(load({ argv: ['--config=/no/such.yaml'] }).problems, [
      'configuration: file /no/such.yaml (flag --config) does not exist',
    ]);
  });

  test('zones, patterns, headers and CIDRs are checked', () => {
    const wrong: Record<string, string> = {
      'cluster.default-time-zone': 'Europe/Berlim',
      'evidence.redact-patterns': '(a',
      'auth.proxy.user-header': 'X User',
      'channels.deny-cidrs': '10.0.0.0/33',
      'channels.paging-endpoints': 'http://events.example.org/',
      'channels.require-secret-label': 'some',
      'auth.proxy.peers': 'peer',
      'api.allowed-hosts': 'a..b',
      'api.host': 'a b',
      'ui.external-url': 'https://a/?q',
      'metrics.bind-address': '8443',
      'probes.bind-address': '0',
      'metrics.cert-name': '../tls.crt',
      'cluster.watch-namespaces': 'Prod',
      'monitors.cross-namespace-from': 'a,*b',
      'leader-election.namespace': '*',
    };
    const found = problems(Object.entries(wrong).map(([key, value]) => `--${key}=${value}`));
    for (const key of Object.keys(wrong)) {
      assert.equal(found.filter((line) => line.startsWith(`configuration: ${key} = `)).length, 1, key);
    }
  });

  test('where Secrets need a label is a word, or what the key took before it had words', () => {
    const meant = (given?: string): unknown => {
      const flag = given === undefined ? [] : [`--channels.require-secret-label=${given}`];
      return load({ argv: [...postgres, ...flag] }).loaded?.config['channels.require-secret-label'];
    };
    const words = [undefined, 'off', 'own', 'all', 'false', 'true'].map(meant);
    assert.deepEqual(words, ['own', 'off', 'own', 'all', 'off', 'all']);
  });

  test('good ones of these pass', () => {
    const good: Record<string, string> = {
      'cluster.default-time-zone': 'Europe/Berlin',
      'evidence.redact-patterns': '(?i)pin \\d+,x',
      'channels.deny-cidrs': '10.0.0.0/8,::1/128',
      'auth.proxy.peers': '10.0.0.1,fd00::/8',
      'api.allowed-hosts': '*.example.org,monitor',
      'api.host': '::',
      'ui.external-url': 'https://a.example/monitor/',
      'metrics.bind-address': '[::1]:0',
      'monitors.cross-namespace-from': '*',
      'storage.postgres.pool.conn-max-lifetime': '0',
      'heartbeat-url': 'https://a.example/ping?id=1',
    };
    assert.deepEqual(problems(Object.entries(good).map(([key, value]) => `--${key}=${value}`)), []);
  });
});

test('every key has a variable of its own: MONITOR_, upper case, dots and hyphens as underscores', () => {
  assert.equal(variableOf('storage.postgres.ssl-mode'), 'MONITOR_STORAGE_POSTGRES_SSL_MODE');
  assert.equal(new Set(acceptedKeys.map(variableOf)).size, acceptedKeys.length);
  const all = Object.fromEntries(acceptedKeys.map((key) => [variableOf(key), `value of ${key}`]));
  const { settings, problems } = readEnvironment(all);
  assert.deepEqual(problems, []);
  for (const key of acceptedKeys) assert.equal(settings.get(key)?.given, `value of ${key}`);
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

function warnings(argv: string[], entryPoint: EntryPoint = 'standalone'): readonly string[] {
  const { loaded } = loadConfig({ entryPoint, argv, environment: {}, filePaths: [] });
  assert.ok(loaded);
  return loaded.warnings;
}

const open = 'auth.mode = none (default): every caller that reaches port 8080 of 0.0.0.0 may see and do everything';
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

test('reserved keys that are given are named, at their default value too', () => {
  assert.deepEqual(warnings([quiet, '--rate-limits.max-remediations-per-hour=100', '--webhook.cert-name=tls.crt']), [
    'webhook.cert-name = tls.crt (flag --webhook.cert-name) is accepted and does nothing',
    'rate-limits.max-remediations-per-hour = 100 (flag --rate-limits.max-remediations-per-hour) is accepted and does nothing',
  ]);
  assert.deepEqual(warnings([quiet]), []);
});

test('a retired key is accepted from flag, variable and file, named at the start, and refused where its value is none', (t) => {
  const file = join(aTemporaryFolder(t, { 'c.yaml': 'evidence:\n  concurrency: 8\n' }), 'c.yaml');
  const { loaded } = load({
    argv: [...postgres, '--api.max-streams=7', `--config=${file}`],
    environment: { MONITOR_AUTH_TOKEN_CACHE: '1s' },
  });
  assert.deepEqual(loaded?.warnings.toSorted(), [
    'api.max-streams = 7 (flag --api.max-streams) is accepted and does nothing',
    'auth.token-cache = 1s (environment MONITOR_AUTH_TOKEN_CACHE) is accepted and does nothing',
    `evidence.concurrency = 8 (file ${file} line 2) is accepted and does nothing`,
  ]);
  for (const key of [...idleKeys.reserved, ...idleKeys.retired]) {
    const wrong = rowOf(key).kind.name === 'string' ? '' : 'x';
    assert.match(problems([`--${key}=${wrong}`]).join(), new RegExp(`^configuration: ${key} = .*allowed: `), key);
  }
});

test('a key that does nothing is suggested to no author of a misspelt one', () => {
  assert.match(problems(['--evidence.concurency=8']).join(), /is no key(?!; did you mean evidence\.concurrency\?)/);
  assert.doesNotMatch(problems(['--webhook.cert-pathh=8']).join(), /did you mean webhook\.cert-path/);
});
