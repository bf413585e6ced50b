import { ownNamespace, row, type Row, sensitive, shapes, under, type ValueOf } from './shapes.ts';
import { anyText, bool, duration, int, list, oneOf, oneOfOr, text, type ValueKind } from './value-kinds.ts';

const sslMode = oneOf('disable', 'require', 'verify-ca', 'verify-full');

/** The keys that both database servers have. */
const serverRows = {
  host: row('CA', text(), null, 'Host of the server; required with this type of storage.'),
  database: row('CA', text(), null, 'Name of the database; required with this type of storage.'),
  username: row('CA', text(), null, 'Account of the database; required with this type of storage.'),
  password: sensitive(row('CA', anyText, null, 'Password of the account.')),
  'password-file': row('CA', shapes.path, null, 'File whose first line is the password; not together with password.'),
  'ssl-ca': row('CA', shapes.path, null, 'File of CA certificates (PEM); without it the ones that Node trusts.'),
  'pool.max-idle-conns': row('CA', int(0, 1000), '10', 'Idle connections kept; at most max-open-conns.'),
  'pool.max-open-conns': row('CA', int(2, 1000), '100', 'Connections open at once.'),
  'pool.conn-max-lifetime': row(
    'CA',
    duration({ orZero: true }),
    '1h',
    'Age at which a connection is replaced; 0 = never.',
  ),
  'pool.conn-max-idle-time': row(
    'CA',
    duration({ orZero: true }),
    '10m',
    'Idle time after which one is closed; 0 = never.',
  ),
};

const days = int(1, 3650);
const rate = int(1, 100_000);
const perSecond = int(1, 1000);

/**
 * The configuration, one row per key. Types, flags, variables, the help text, checks, redaction and docs/configuration.md
 * come from here; rules between two keys are in `check.ts`.
 */
const keys = {
  'log-level': row('CA', oneOf('debug', 'info', 'warn', 'error'), 'info', 'Lines below this level are not written.'),
  'log-format': row('CA', oneOf('json', 'text'), 'json', 'One JSON object a line, or text for people.'),
  'ignored-namespaces': row(
    'C',
    shapes.namespaces,
    'kube-system,kube-public,kube-node-lease',
    'Namespaces whose CronJobs no monitor selects.',
  ),
  'heartbeat-url': sensitive(
    row('C', shapes.httpUrl, null, 'Called every 60 s by the leader while watches, database and outbox are well.'),
  ),

  ...under('scheduler', {
    'dead-man-switch-interval': row('C', shapes.interval, '1m', 'How often runs that should have come are looked for.'),
    'sla-recalculation-interval': row(
      'C',
      shapes.interval,
      '5m',
      'How often success rates and durations are computed.',
    ),
    'stuck-job-check-interval': row('C', shapes.interval, '1m', 'How often Jobs that do not get on are looked for.'),
    'prune-interval': row('C', shapes.interval, '1h', 'How often history past its retention is deleted.'),
    'startup-grace-period': row(
      'C',
      duration({ max: '1h', orZero: true }),
      '30s',
      'Messages wait so long after a start.',
    ),
  }),

  'storage.type': row(
    'CA',
    oneOf('sqlite', 'postgres', 'mysql'),
    'sqlite',
    'Kind of database; sqlite with standalone only, mysql means MariaDB too.',
  ),
  'storage.sqlite.path': row(
    'CA',
    shapes.path,
    '/data/guardian.db',
    'File of the database; its folder must be writable.',
  ),
  ...under('storage.postgres', {
    ...serverRows,
    schema: row('CA', shapes.schemaName, null, 'Schema of the tables, made if it is absent; one for each cluster.'),
    port: row('CA', int(1, 65_535), '5432', 'Port of the server.'),
    'ssl-mode': row('CA', sslMode, 'require', 'TLS: none, unchecked, chain checked, chain and host name checked.'),
  }),
  ...under('storage.mysql', {
    ...serverRows,
    port: row('CA', int(1, 65_535), '3306', 'Port of the server.'),
    'ssl-mode': row('CA', sslMode, 'disable', 'TLS: none, unchecked, chain checked, chain and host name checked.'),
  }),
  'storage.spool-path': row(
    'C',
    shapes.path,
    null,
    'Folder that keeps ended runs while the database is away; at most 64 MiB.',
  ),
  'storage.log-storage-enabled': row('C', bool, 'false', 'Keep logs of runs where a monitor asks for it.'),
  'storage.event-storage-enabled': row('C', bool, 'false', 'Keep events of runs where a monitor asks for it.'),
  'storage.max-log-size-kb': row('C', int(1, 1024), '100', 'Log kept per run, in KiB; its end.'),
  'storage.log-retention-days': row(
    'C',
    int(0, 3650),
    '0',
    'Days logs are kept, at most history-retention.max-days; 0 = history-retention.default-days.',
  ),

  ...under('history-retention', {
    'default-days': row('CA', days, '30', 'Days that runs are kept; at most max-days.'),
    'max-days': row('CA', days, '90', 'The most that a monitor may ask for.'),
    'alert-days': row('CA', days, '90', 'Days that ended alerts, their decisions and deliveries are kept.'),
    'rollup-days': row('CA', days, '400', 'Days that daily figures are kept; at least max-days.'),
  }),

  ...under('rate-limits', {
    'max-alerts-per-minute': row('C', rate, '50', 'Messages a minute, all channels together.'),
    'burst-limit': row(
      'C',
      rate,
      '10',
      'Messages that may go out at once; a fifth more, at least one, for critical ones alone.',
    ),
    'storm-threshold': row('C', int(0, 100_000), '20', 'CronJobs in trouble that make a storm; 0 = never grouped.'),
    'default-suppress-duplicates-for': row(
      'C',
      duration({ max: '30d', orZero: true }),
      '1h',
      'Time without a second message of one kind for one CronJob.',
    ),
  }),

  ...under('ui', {
    enabled: row('A', bool, 'true', 'Serve the user interface and the REST API.'),
    port: row('A', int(0, 65_535), '8080', 'Port of both; 0 = any free port, logged.'),
    'external-url': row('CA', shapes.baseUrl, null, 'Base of the links in messages; without it they have none.'),
  }),

  ...under('api', {
    host: row('A', shapes.host, '0.0.0.0', 'Address to listen on; :: for both families.'),
    'allowed-hosts': row('A', shapes.hostNames, '', 'Further names accepted in the Host header.'),
    'read-only': row('A', bool, 'false', 'Refuse every call that changes something.'),
    'costly-requests-per-minute': row('A', int(1, 10_000), '60', 'Costly calls a minute, per caller.'),
  }),

  ...under('auth', {
    mode: row('A', oneOf('none', 'token', 'proxy'), 'none', 'Who may call the API: anyone, tokens, a proxy.'),
    audiences: row('A', list(), '', 'Audiences a token must have; empty = those of the API server.'),
    'proxy.peers': row('A', shapes.addressesAndCidrs, '', 'Who may set the two headers; required with mode proxy.'),
    'proxy.user-header': row('A', shapes.headerName, 'X-Forwarded-User', 'Header with the name of the user.'),
    'proxy.groups-header': row('A', shapes.headerName, 'X-Forwarded-Groups', 'Header with the groups, between commas.'),
  }),

  ...under('metrics', {
    'bind-address': row('CA', shapes.bindAddressOrOff, ':8443', 'Where metrics are served; 0 = nowhere.'),
    secure: row('CA', bool, 'true', 'Serve them by HTTPS, to callers that the cluster allows.'),
    'cert-path': row('CA', shapes.path, null, 'Folder of the certificate; without it one of our own making.'),
    'cert-name': row('CA', shapes.fileName, 'tls.crt', 'File of the certificate; read again on rotation.'),
    'cert-key': row('CA', shapes.fileName, 'tls.key', 'File of its key; read again on rotation.'),
  }),

  'probes.bind-address': row('CA', shapes.bindAddress, ':8081', 'Where /healthz and /readyz are served.'),

  ...under('leader-election', {
    enabled: row('C', bool, 'false', 'Elect one of several replicas by a Lease.'),
    'lease-duration': row(
      'C',
      duration({ min: '1s', wholeSeconds: true }),
      '15s',
      'Time after which a silent leader is replaced; longer than renew-deadline.',
    ),
    'renew-deadline': row(
      'C',
      duration(),
      '10s',
      'Time after which a leader gives up; longer than 1.2 x retry-period.',
    ),
    'retry-period': row('C', duration({ min: '100ms' }), '2s', 'Time between two tries.'),
    namespace: ownNamespace(row('C', shapes.namespace, null, 'Namespace of the Lease; required outside a cluster.')),
  }),

  ...under('cluster', {
    name: row('CA', shapes.clusterName, null, 'Name of the cluster in messages and in health.'),
    kubeconfig: row('CA', shapes.path, null, 'File; without it KUBECONFIG, the pod, ~/.kube/config.'),
    context: row('CA', text(), null, 'Context of that file; without it the current one.'),
    'default-time-zone': row(
      'CA',
      shapes.timeZone,
      'UTC',
      'Zone of CronJobs without one: that of kube-controller-manager.',
    ),
    'watch-namespaces': row('CA', shapes.namespaces, '', 'The only namespaces watched; empty = all.'),
    'shared-with-another': row(
      'C',
      bool,
      'false',
      'Work although another installation watches this cluster; else the younger one waits.',
    ),
    'show-others': row('A', bool, 'false', 'Show the clusters of the other schemas, or databases, of the server too.'),
    'actions-key-file': row(
      'A',
      shapes.path,
      null,
      'File of 32 bytes or more by which API servers of several clusters act for each other; needs a name.',
    ),
    'requests-per-second': row(
      'CA',
      perSecond,
      '20',
      'Calls a second to the API server, twice as many after a pause; the Lease is exempt.',
    ),
  }),

  'owners.label': row(
    'CA',
    shapes.labelKey,
    null,
    'Label of CronJobs and Namespaces that names the owner; an annotation wins.',
  ),
  'owners.events': row(
    'C',
    bool,
    'true',
    'An Event InvalidAnnotation on a CronJob whose owner says what cannot be used.',
  ),

  'gitops.mirror': row(
    'C',
    oneOf('off', 'progressing', 'healthy'),
    'off',
    'Health as annotations of CronJobs; a template that has not run yet is progressing, or healthy.',
  ),

  'monitors.cross-namespace-from': ownNamespace(
    row('C', shapes.namespacesOrAny, null, 'Namespaces whose monitors may select CronJobs of others.'),
  ),

  ...under('channels', {
    'secret-namespaces': ownNamespace(
      row('C', shapes.namespacesOrAny, null, 'Namespaces where Secrets of channels may be.'),
    ),
    'require-secret-label': row(
      'C',
      oneOfOr({ false: 'off', true: 'all' }, 'off', 'own', 'all'),
      'own',
      'Where Secrets need the label cronjob-monitor.io/channel-secret: nowhere, in the own namespace, everywhere.',
    ),
    'paging-endpoints': row(
      'C',
      shapes.httpsUrls,
      'https://events.pagerduty.com/v2/enqueue,https://events.eu.pagerduty.com/v2/enqueue',
      'Where paging events may go: endpoints that channels may name.',
    ),
    'deny-cidrs': row('C', shapes.cidrs, '', 'Receivers refused besides loopback, link-local and the like.'),
    'allow-cidrs': row('C', shapes.cidrs, '', 'Exceptions to all that is refused.'),
  }),

  ...under('evidence', {
    'message-wait': row(
      'C',
      duration({ max: '10s', orZero: true }),
      '250ms',
      'A first message waits so long at most for log and events of its run; a mail 3s, a page not at all.',
    ),
    'requests-per-second': row(
      'C',
      perSecond,
      '200',
      'Logs and events asked for in a second, twice as many after a pause; other calls have a limit of their own.',
    ),
    'redact-patterns': row('CA', shapes.patterns, '', 'Text taken out of logs and events, besides what is built in.'),
  }),
} satisfies Readonly<Record<string, Row<unknown>>>;

const idle = <T>(kind: ValueKind<T>, fallback: string | null = null): Row<T> =>
  row('C', kind, fallback, 'Accepted, and does nothing.');

/** Keys of the specification that nothing acts by yet: `/api/v1/config` shows them. */
const reserved = {
  ...under('webhook', {
    'cert-path': idle(shapes.path),
    'cert-name': idle(shapes.fileName, 'tls.crt'),
    'cert-key': idle(shapes.fileName, 'tls.key'),
    'enable-http2': idle(bool, 'false'),
  }),
  'rate-limits.max-remediations-per-hour': idle(int(0)),
};

/** Keys that were settings before and are constants now. */
const retired = {
  ...under('evidence', {
    concurrency: idle(int(1, 100)),
    'concurrency-per-node': idle(int(1, 100)),
    'read-timeout': idle(duration({ min: '1s', max: '60s' })),
    'max-attempts': idle(int(1, 10)),
  }),
  ...under('auth', {
    'token-cache': idle(duration({ max: '10m', orZero: true })),
    'allow-cache': idle(duration({ max: '1h', orZero: true })),
    'deny-cache': idle(duration({ max: '1h', orZero: true })),
  }),
  'api.max-streams': idle(int(1, 10_000)),
  'cluster.request-burst': idle(perSecond),
};

const accepted = { ...keys, ...reserved, ...retired };

export type ConfigKey = keyof typeof keys;

/** A key that may be given: one of the table, or one that does nothing. */
export type AcceptedKey = keyof typeof accepted;

/** Every key of the table with its value: `config['storage.type']`. Undefined only where a key has no default and was not set. */
export type Config = { readonly [K in ConfigKey]: ValueOf<(typeof keys)[K]> };

/** The keys in the order of the table. */
export const configKeys: readonly ConfigKey[] = Object.keys(keys).filter((key): key is ConfigKey => key in keys);

/**
 * What is accepted and does nothing: values are checked, each start names the keys that are given, and no page has them.
 * None of them is a block of keys of its own, or the name of one.
 */
export const idleKeys = {
  reserved: Object.keys(reserved).filter((key): key is keyof typeof reserved => key in reserved),
  retired: Object.keys(retired).filter((key): key is keyof typeof retired => key in retired),
};

/** The keys of the table, then those that do nothing. */
export const acceptedKeys: readonly AcceptedKey[] = [...configKeys, ...idleKeys.reserved, ...idleKeys.retired];

export function isAcceptedKey(text: string): text is AcceptedKey {
  return Object.hasOwn(accepted, text);
}

/** The row of a key, its value untyped. */
export function rowOf(key: AcceptedKey): Row<unknown> {
  return accepted[key];
}

/** `MONITOR_STORAGE_POSTGRES_SSL_MODE` of `storage.postgres.ssl-mode`. */
export function variableOf(key: string): string {
  return `MONITOR_${key.toUpperCase().replaceAll(/[.-]/g, '_')}`;
}
