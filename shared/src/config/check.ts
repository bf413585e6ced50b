import { formatDuration } from '../domain/index.ts';
import {
  type ConfigView,
  describeSetting,
  describeSource,
  isController,
  problemLine,
  settingOf,
  shownValue,
} from './config-view.ts';
import type { Config, ConfigKey } from './keys.ts';

/** One rule between keys: the keys it looks at, and what is wrong, undefined when nothing is. */
interface Rule {
  readonly keys: readonly ConfigKey[];
  readonly judge: (config: Config, view: ConfigView) => string | undefined;
}

const servers = ['postgres', 'mysql'] as const;

const rules: readonly Rule[] = [
  { keys: ['storage.type'], judge: sharedSqlite },
  ...servers.flatMap((type) => [
    required(type, 'host'),
    required(type, 'database'),
    required(type, 'username'),
    twoPasswords(type),
    atMost(`storage.${type}.pool.max-idle-conns`, `storage.${type}.pool.max-open-conns`),
  ]),
  atMost('history-retention.default-days', 'history-retention.max-days'),
  atMost('storage.log-retention-days', 'history-retention.max-days'),
  { keys: ['history-retention.rollup-days', 'history-retention.max-days'], judge: rollupsTooShort },
  { keys: ['leader-election.lease-duration', 'leader-election.renew-deadline'], judge: leaseTooShort },
  { keys: ['leader-election.renew-deadline', 'leader-election.retry-period'], judge: deadlineTooShort },
  { keys: ['leader-election.enabled', 'leader-election.namespace', 'cluster.kubeconfig'], judge: noLeaseNamespace },
  { keys: ['auth.mode', 'auth.proxy.peers'], judge: proxyWithoutPeers },
  { keys: ['cluster.actions-key-file', 'cluster.name'], judge: actionsWithoutName },
  { keys: ['ui.enabled', 'cluster.actions-key-file'], judge: apiserverWithoutApi },
  { keys: ['ui.port', 'metrics.bind-address', 'probes.bind-address'], judge: samePort },
];

/** What is wrong between keys, a line each. A rule is silent while the text of one of its keys could not be read. */
export function findConfigProblems(view: ConfigView): string[] {
  return rules.flatMap(({ keys, judge }) => {
    if (!allRead(view, ...keys)) return [];
    const problem = judge(view.values as Config, view); // A rule looks at its own keys alone, and these are there.
    return problem === undefined ? [] : [problemLine(problem)];
  });
}

function sharedSqlite(config: Config, view: ConfigView): string | undefined {
  if (config['storage.type'] !== 'sqlite' || view.entryPoint === 'standalone') return undefined;
  const setting = describeSetting('storage.type', settingOf(view, 'storage.type'));
  return `${setting}: two processes cannot share one file; use postgres or mysql, or start standalone`;
}

function required(type: 'postgres' | 'mysql', name: 'host' | 'database' | 'username'): Rule {
  const key = `storage.${type}.${name}` as const;
  return {
    keys: ['storage.type', key],
    judge: (config, view) => {
      if (config['storage.type'] !== type || config[key] !== undefined) return undefined;
      return `${key} is required when storage.type = ${type} (${sourceOf(view, 'storage.type')})`;
    },
  };
}

function twoPasswords(type: 'postgres' | 'mysql'): Rule {
  const password = `storage.${type}.password` as const;
  const file = `storage.${type}.password-file` as const;
  return {
    keys: [password, file],
    judge: (config, view) => {
      if (config[password] === undefined || config[file] === undefined) return undefined;
      return `${described(view, file)} cannot stand together with ${described(view, password)}; allowed: one of the two`;
    },
  };
}

function atMost(key: NumberKey, ceiling: NumberKey): Rule {
  return {
    keys: [key, ceiling],
    judge: (config, view) => {
      if (config[key] <= config[ceiling]) return undefined;
      return `${described(view, key)} must be at most ${described(view, ceiling)}`;
    },
  };
}

type NumberKey = { [K in ConfigKey]: Config[K] extends number ? K : never }[ConfigKey];

function rollupsTooShort(config: Config, view: ConfigView): string | undefined {
  if (config['history-retention.rollup-days'] >= config['history-retention.max-days']) return undefined;
  const ceiling = described(view, 'history-retention.max-days');
  return `${described(view, 'history-retention.rollup-days')} must be at least ${ceiling}`;
}

function leaseTooShort(config: Config, view: ConfigView): string | undefined {
  const deadline = 'leader-election.renew-deadline';
  if (config['leader-election.lease-duration'] > config[deadline]) return undefined;
  const { given, source } = settingOf(view, deadline);
  const from = source.from === 'default' ? '' : ` (${describeSource(source)})`;
  const lease = described(view, 'leader-election.lease-duration');
  return `${lease} must be longer than renew-deadline = ${shownValue(deadline, given)}${from}`;
}

/** The jitter of a retry is up to 20 %: a shorter deadline would pass while a retry is still waiting. */
function deadlineTooShort(config: Config, view: ConfigView): string | undefined {
  const shortestMs = (config['leader-election.retry-period'] * 12) / 10;
  if (config['leader-election.renew-deadline'] > shortestMs) return undefined;
  const from = sourceOf(view, 'leader-election.retry-period');
  const deadline = described(view, 'leader-election.renew-deadline');
  return `${deadline} must be longer than 1.2 x retry-period = ${formatDuration(shortestMs)} (${from})`;
}

function noLeaseNamespace(config: Config, view: ConfigView): string | undefined {
  if (!config['leader-election.enabled'] || config['leader-election.namespace'] !== undefined) return undefined;
  if (!isController(view.entryPoint) || isInCluster(view)) return undefined;
  const from = sourceOf(view, 'leader-election.enabled');
  return `leader-election.namespace is required outside a cluster when leader-election.enabled = true (${from})`;
}

function proxyWithoutPeers(config: Config, view: ConfigView): string | undefined {
  if (config['auth.mode'] !== 'proxy' || config['auth.proxy.peers'].length > 0) return undefined;
  return `auth.proxy.peers is required when auth.mode = proxy (${sourceOf(view, 'auth.mode')})`;
}

function actionsWithoutName(config: Config, view: ConfigView): string | undefined {
  if (config['cluster.actions-key-file'] === undefined || config['cluster.name'] !== undefined) return undefined;
  return `cluster.name is required when ${described(view, 'cluster.actions-key-file')} is given`;
}

function apiserverWithoutApi(config: Config, view: ConfigView): string | undefined {
  if (config['ui.enabled'] || view.entryPoint !== 'apiserver') return undefined;
  if (config['cluster.actions-key-file'] !== undefined) return undefined; // it acts for other clusters
  return `${described(view, 'ui.enabled')}: the apiserver has nothing else to do without cluster.actions-key-file; allowed: true, or do not start it`;
}

function samePort(config: Config, view: ConfigView): string | undefined {
  const metrics = config['metrics.bind-address'];
  const listeners: { key: ConfigKey; port: number }[] = [
    { key: 'probes.bind-address', port: config['probes.bind-address'].port },
    { key: 'metrics.bind-address', port: metrics === 'off' ? 0 : metrics.port },
    { key: 'ui.port', port: config['ui.port'] },
  ];
  const clashes = listeners.flatMap((one, index) => {
    const other = listeners.slice(0, index).find(({ port }) => port !== 0 && port === one.port);
    return other ? [`${described(view, one.key)} has the port of ${described(view, other.key)}`] : [];
  });
  return clashes.length === 0 ? undefined : `${clashes.join(' and ')}; allowed: a port for each listener`;
}

function described(view: ConfigView, key: ConfigKey): string {
  return describeSetting(key, settingOf(view, key));
}

function sourceOf(view: ConfigView, key: ConfigKey): string {
  return describeSource(settingOf(view, key).source);
}

/** Whether the texts of all these keys could be read. */
function allRead(view: ConfigView, ...keys: readonly ConfigKey[]): boolean {
  return keys.every((key) => key in view.values);
}

/** A pod talks to its own cluster unless a kubeconfig is named. */
function isInCluster(view: Pick<ConfigView, 'surroundings' | 'values'>): boolean {
  const { apiServer, kubeconfig } = view.surroundings;
  return apiServer !== undefined && kubeconfig === undefined && view.values['cluster.kubeconfig'] === undefined;
}
