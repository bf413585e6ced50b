/** Installations that people make, each with something the others do not have: all of them have to be rendered, valid and sound. */
export const valueSets: Readonly<Record<string, object>> = {
  'standalone with the defaults': {},
  'standalone whose history may be lost': { persistence: { enabled: false } },
  'standalone on a claim that is there': {
    persistence: { existingClaim: 'old-data' },
    image: { digest: `sha256:${'0'.repeat(64)}` },
    controller: { serviceAccount: { create: false, name: 'given' }, nodeSelector: { disk: 'local' } },
  },
  'standalone whose default monitor tells': {
    defaultMonitor: { channels: ['team-chat'], spec: { jobFailed: { failureThreshold: 2 } } },
  },
  'standalone without a default monitor': { defaultMonitor: { enabled: false } },
  'standalone on PostgreSQL': { database: { type: 'postgres', host: 'db.prod.svc', port: 6432 } },
  'standalone without a user interface': { config: { ui: { enabled: false } } },
  'standalone for two namespaces': {
    config: { cluster: { 'watch-namespaces': ['team-a', 'team-b'] }, channels: { 'secret-namespaces': ['team-a'] } },
  },
  'split on PostgreSQL': { mode: 'split', database: { type: 'postgres' } },
  'split on MySQL': { mode: 'split', database: { type: 'mysql', sslMode: 'require' }, controller: { replicas: 3 } },
  'split whose API servers act for other clusters and serve nothing': {
    mode: 'split',
    database: { type: 'postgres' },
    actionsKey: { existingSecret: 'actions-key' },
    config: { ui: { enabled: false }, cluster: { name: 'us' } },
  },
  'split with a single controller and no election': {
    mode: 'split',
    database: { type: 'mysql' },
    controller: { replicas: 1 },
    config: { 'leader-election': { enabled: false } },
  },
  'split that changes nothing': {
    mode: 'split',
    database: { type: 'postgres' },
    ui: { writes: false },
    config: { metrics: { 'bind-address': '0' } },
  },
  'split behind an ingress, with tokens': {
    mode: 'split',
    database: { type: 'postgres' },
    config: { auth: { mode: 'token' }, metrics: { secure: false } },
    ingress: { enabled: true, className: 'nginx', hosts: [{ host: 'cronjobs.example.org' }] },
    metrics: { serviceMonitor: { enabled: true } },
  },
  'split with everything': {
    mode: 'split',
    fullnameOverride: 'monitor',
    commonLabels: { team: 'platform' },
    database: {
      type: 'postgres',
      host: 'db.prod.svc',
      sslMode: 'verify-full',
      ca: { existingSecret: 'db-ca' },
      apiserver: { username: 'reader', existingSecret: 'reader-database' },
    },
    ingress: {
      enabled: true,
      annotations: { 'example.org/a': 'b' },
      hosts: [{ host: 'cronjobs.example.org' }],
      tls: [{ secretName: 'cronjobs-tls', hosts: ['cronjobs.example.org'] }],
    },
    httpRoute: {
      enabled: true,
      parentRefs: [{ name: 'gateway', namespace: 'gateways' }],
      hostnames: ['jobs.example.org'],
    },
    apiserver: { autoscaling: { enabled: true }, priorityClassName: 'system-cluster-critical' },
    metrics: {
      readers: [{ name: 'prometheus', namespace: 'monitoring' }],
      certificate: { existingSecret: 'metrics-tls' },
      serviceMonitor: { enabled: true, token: { create: true }, labels: { release: 'prometheus' } },
      prometheusRule: { enabled: true },
      dashboard: { enabled: true },
    },
    heartbeat: { existingSecret: 'heartbeat' },
    caBundle: { existingConfigMap: 'authorities' },
    ui: { openToEverybody: true },
    networkPolicy: { egress: { enabled: true }, uiFrom: [{ namespaceSelector: { matchLabels: { ingress: 'yes' } } }] },
    config: {
      cluster: { name: 'prod', 'watch-namespaces': ['team-a', 'team-b'] },
      channels: { 'secret-namespaces': ['cronjob-monitor', 'alerts'] },
      scheduler: { 'prune-interval': '2h30m' },
      api: { 'allowed-hosts': ['elsewhere.example.org'] },
      'history-retention': { 'default-days': 60 },
    },
  },
};

/** Values that cannot work, with what Helm's message has to hold: the value at fault and what to do. */
export const refusedValues: readonly (readonly [title: string, values: object, says: readonly string[]])[] = [
  [
    'two processes on one SQLite file',
    { mode: 'split' },
    ["'/mode'", 'standalone, for two processes', 'postgres or mysql'],
  ],
  [
    'SQLite with replicas',
    { controller: { replicas: 2 } },
    ["'/controller/replicas'", '1, for standalone is one process'],
  ],
  [
    'standalone with replicas on a server',
    { database: { type: 'postgres' }, controller: { replicas: 2 } },
    ["'/controller/replicas'", 'mode split'],
  ],
  ['API servers in standalone', { apiserver: { replicas: 3 } }, ["'/apiserver/replicas'", 'set mode to split']],
  [
    'an autoscaler in standalone',
    { apiserver: { autoscaling: { enabled: true } } },
    ["'/apiserver/autoscaling/enabled'", 'set mode to split'],
  ],
  [
    'several controllers without an election',
    { mode: 'split', database: { type: 'postgres' }, config: { 'leader-election': { enabled: false } } },
    ["'/config/leader-election/enabled'", 'controller.replicas to 1'],
  ],
  [
    'the same, with a number given',
    {
      mode: 'split',
      database: { type: 'mysql' },
      controller: { replicas: 3 },
      config: { 'leader-election': { enabled: false } },
    },
    ["'/config/leader-election/enabled'"],
  ],
  [
    'API servers that serve nothing',
    { mode: 'split', database: { type: 'mysql' }, config: { ui: { enabled: false } } },
    ["'/config/ui/enabled'", 'set mode to standalone'],
  ],
  [
    'an ingress to nothing',
    { config: { ui: { enabled: false } }, ingress: { enabled: true, hosts: [{ host: 'a.example.org' }] } },
    ["'/ingress/enabled'"],
  ],
  [
    'an ingress to a path of a shared host',
    {
      config: { auth: { mode: 'token' } },
      ingress: { enabled: true, hosts: [{ host: 'a.example.org', path: '/cronjobs' }] },
    },
    ["'/ingress/hosts/0/path'", 'a host of its own'],
  ],
  [
    'runs that are kept for longer than a monitor may ask for',
    { config: { 'history-retention': { 'default-days': 100 } } },
    ['config.history-retention.default-days = 100', 'max-days = 90'],
  ],
  [
    'logs that are kept for longer than that',
    { config: { storage: { 'log-retention-days': 91 } } },
    ['config.storage.log-retention-days = 91', 'max-days = 90'],
  ],
  [
    'daily figures that go before the runs',
    { config: { 'history-retention': { 'rollup-days': 60 } } },
    ['config.history-retention.rollup-days = 60', 'raise rollup-days'],
  ],
  [
    'probes that the kubelet cannot reach',
    { config: { probes: { 'bind-address': '127.0.0.1:8081' } } },
    ["'/config/probes/bind-address'", 'other pods reach'],
  ],
  ['an API that no Service reaches', { config: { api: { host: '::1' } } }, ["'/config/api/host'", 'other pods reach']],
  ['a port outside the range', { config: { ui: { port: 0 } } }, ["'/config/ui/port'"]],
  ['an ingress without a host', { ingress: { enabled: true } }, ["'/ingress/hosts'"]],
  [
    'a route without a gateway',
    { httpRoute: { enabled: true, hostnames: ['a.example.org'] } },
    ["'/httpRoute/parentRefs'"],
  ],
  [
    'an ingress to a page without sign-in',
    { ingress: { enabled: true, hosts: [{ host: 'a.example.org' }] } },
    ['ingress.enabled opens the user interface', 'config.auth.mode to token or proxy', 'ui.openToEverybody to true'],
  ],
  [
    'a route to a page without sign-in',
    {
      httpRoute: { enabled: true, parentRefs: [{ name: 'a' }], hostnames: ['a.example.org'] },
      config: { auth: { mode: 'none' } },
    },
    ['httpRoute.enabled opens the user interface'],
  ],
  ['a proxy mode that trusts no address', { config: { auth: { mode: 'proxy' } } }, ["'/config/auth'", 'proxy']],
  [
    'monitors of a listener that is off',
    { config: { metrics: { 'bind-address': '0' } }, metrics: { serviceMonitor: { enabled: true } } },
    ["'/metrics/serviceMonitor/enabled'", 'nothing to scrape'],
  ],
  [
    'two tokens',
    { metrics: { serviceMonitor: { token: { create: true, existingSecret: 'x' } } } },
    ["'/metrics/serviceMonitor/token/create'"],
  ],
  [
    'a server without a password',
    { database: { type: 'postgres', existingSecret: '' } },
    ["'/database/existingSecret'"],
  ],
  [
    'a password in the configuration',
    { database: { type: 'postgres' }, config: { storage: { postgres: { password: 'hunter2' } } } },
    ["'/config/storage/postgres/password'", 'give database.existingSecret'],
  ],
  ['a secret URL in the configuration', { config: { 'heartbeat-url': 'https://x' } }, ['heartbeat.existingSecret']],
  [
    'the right to read every Secret',
    { config: { channels: { 'secret-namespaces': ['*'] } } },
    ["'/config/channels/secret-namespaces/0'", 'the name of a namespace'],
  ],
  ['a key that is none', { config: { storage: { typ: 'x' } } }, ["'/config/storage'", "'typ' not allowed"]],
  ['a word that is none', { config: { 'log-level': 'loud' } }, ["'/config/log-level'", "'debug'"]],
  ['a number out of range', { config: { 'rate-limits': { 'burst-limit': 0 } } }, ["'/config/rate-limits/burst-limit'"]],
  ['a duration that is none', { config: { scheduler: { 'prune-interval': '90' } } }, ['prune-interval']],
  ['a value that is none', { replicas: 3 }, ["'replicas' not allowed"]],
  ['a volume for many', { persistence: { accessMode: 'ReadWriteMany' } }, ["'/persistence/accessMode'"]],
  [
    'fewer API servers at most than at least',
    {
      mode: 'split',
      database: { type: 'mysql' },
      apiserver: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } },
    },
    ['minReplicas = 9 is more than maxReplicas = 3'],
  ],
  ['two listeners on one port', { config: { ui: { port: 8081 } } }, ['ports of their own']],
];
