// The schema of the chart's values: shapes, the keys of the configuration from their table, and the combinations that cannot work.
import { acceptedKeys, rowOf } from '../shared/src/config/index.ts';

const text = { type: 'string' };
const filled = { type: 'string', minLength: 1 };
const bool = { type: 'boolean' };
const map = { type: 'object', additionalProperties: { type: 'string' } };
const free = { type: 'object' };
const list = { type: 'array', items: { type: 'object' } };
const port = { type: 'integer', minimum: 1, maximum: 65_535 };
const replicas = { type: ['integer', 'null'], minimum: 0 };
const duration = { type: 'string', pattern: String.raw`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+$` };

/** An object that has these properties and no others. */
const object = (properties, more = {}) => ({ type: 'object', additionalProperties: false, properties, ...more });

/** What has to hold where the condition does. */
function when(condition, consequence) {
  // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema; a schema is never awaited
  return { if: condition, then: consequence };
}

/** Keys that follow from a value of the chart: who gives them is told which. */
const owned = {
  'heartbeat-url': 'left out: it is a secret, name one in heartbeat.existingSecret',
  'storage.type': 'left out: give database.type',
  'storage.sqlite.path': 'left out: the file is on the volume of persistence',
  'storage.spool-path': 'left out: the chart mounts a folder for it',
  'metrics.cert-path': 'left out: name a Secret in metrics.certificate.existingSecret',
  'metrics.cert-name': 'left out: give metrics.certificate.certKey',
  'metrics.cert-key': 'left out: give metrics.certificate.keyKey',
  'leader-election.namespace': 'left out: it is the namespace of the release',
  'cluster.actions-key-file': 'left out: name a Secret in actionsKey.existingSecret',
  'cluster.kubeconfig': 'left out: the pods use their service accounts',
  'cluster.context': 'left out: the pods use their service accounts',
  ...Object.fromEntries(
    ['postgres', 'mysql'].flatMap((type) =>
      Object.entries({
        host: 'host',
        port: 'port',
        database: 'name',
        username: 'username',
        password: 'existingSecret',
        'password-file': 'existingSecret',
        'ssl-mode': 'sslMode',
        'ssl-ca': 'ca.existingSecret',
      }).map(([key, value]) => [`storage.${type}.${key}`, `left out: give database.${value}`]),
    ),
  ),
};

const loopback = '^(localhost|127\\.[0-9.]+|\\[?::1\\]?)(:[0-9]+)?$';

/** One key of the table as a schema. Texts that only a program can judge are judged at the start of the process. */
function ofKey(key) {
  if (key in owned) return { const: owned[key] };
  const { kind } = rowOf(key);
  if (key === 'channels.secret-namespaces') return { type: 'array', items: namedNamespace };
  // Helm reads `off` as false; what the key took before it had words is taken too.
  if (key === 'channels.require-secret-label') return { enum: [...kind.allowed.split(', '), true, false] };
  if (kind.isList) return { type: 'array', items: filled };
  if (kind.name === 'bool') return bool;
  if (kind.name === 'enum') return { enum: kind.allowed.split(', ') };
  if (kind.name === 'duration')
    return /\b0\b/.test(kind.allowed) ? { anyOf: [duration, { enum: [0, '0'] }] } : duration;
  if (kind.name === 'int') {
    if (key === 'ui.port') return port; // A Service cannot lead to any free port.
    const [, minimum, maximum] = /^(-?\d+) (?:or more|to (\d+))$/.exec(kind.allowed) ?? [];
    return {
      type: 'integer',
      ...(minimum !== undefined && { minimum: Number(minimum) }),
      ...(maximum !== undefined && { maximum: Number(maximum) }),
    };
  }
  // Who listens on loopback alone is not reached through a Service, nor by the kubelet's probes.
  if (key === 'api.host' || key === 'probes.bind-address')
    return { ...text, ...when({ pattern: loopback }, { const: 'an address that other pods reach, or left out' }) };
  return key === 'metrics.bind-address' ? { type: ['string', 'integer'] } : text;
}

/** The page asks for its files at the root of its host. */
const wholeHost = {
  type: 'string',
  ...when({ not: { enum: ['', '/'] } }, { const: '/, for the page needs a host of its own' }),
};

/** The right to read Secrets is given in namespaces, never everywhere. */
const namedNamespace = {
  type: 'string',
  ...when({ const: '*' }, { const: 'the name of a namespace: the chart grants rights in namespaces that are named' }),
  else: { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
};

/** The keys nested at their dots, as a file of the configuration has them. */
export function configSchema() {
  const root = object({});
  for (const key of acceptedKeys) {
    const parts = key.split('.');
    const name = parts.pop();
    let at = root;
    for (const part of parts) at = at.properties[part] ??= object({});
    at.properties[name] = ofKey(key);
  }
  return root;
}

/** A schema for the value at a path; everything on the way has to be there. */
const at = (path, schema) =>
  path.split('/').reduceRight((inner, name) => ({ required: [name], properties: { [name]: inner } }), schema);
/** The same, and nothing is wrong where it is absent. */
const atIfThere = (path, schema) =>
  path.split('/').reduceRight((inner, name) => ({ properties: { [name]: inner } }), schema);
const is = (path, value) => at(path, { const: value });
const atLeast = (path, minimum) => at(path, { type: 'integer', minimum });
/** Where all of `conditions` hold, the value at `path` is refused, and the message says what it has to be. */
const refuse = (conditions, path, advice) => when({ allOf: conditions }, at(path, { const: advice }));

const standalone = is('mode', 'standalone');
const split = is('mode', 'split');
const severalControllers = {
  anyOf: [atLeast('controller/replicas', 2), atIfThere('controller', { properties: { replicas: { type: 'null' } } })],
};

/** What no schema of a single value refuses. */
const combinations = [
  refuse(
    [split, is('database/type', 'sqlite')],
    'mode',
    'standalone, for two processes cannot share one SQLite file; or set database.type to postgres or mysql',
  ),
  refuse(
    [standalone, atLeast('controller/replicas', 2)],
    'controller/replicas',
    '1, for standalone is one process; several controllers need mode split with postgres or mysql',
  ),
  refuse(
    [standalone, atLeast('apiserver/replicas', 2)],
    'apiserver/replicas',
    'left out, for standalone has no API servers of its own; set mode to split',
  ),
  refuse(
    [standalone, is('apiserver/autoscaling/enabled', true)],
    'apiserver/autoscaling/enabled',
    'false, for standalone is one process; set mode to split',
  ),
  refuse(
    [split, severalControllers, is('config/leader-election/enabled', false)],
    'config/leader-election/enabled',
    'true, for several controllers need an election; or set controller.replicas to 1',
  ),
  refuse(
    [split, is('config/ui/enabled', false), is('actionsKey/existingSecret', '')],
    'config/ui/enabled',
    'true, for API servers have nothing else to do without actionsKey.existingSecret; or set mode to standalone',
  ),
  ...['ingress', 'httpRoute'].map((way) =>
    refuse(
      [is(`${way}/enabled`, true), is('config/ui/enabled', false)],
      `${way}/enabled`,
      'false, for config.ui.enabled = false leaves nothing to lead to',
    ),
  ),
  when(is('ingress/enabled', true), at('ingress/hosts', { minItems: 1 })),
  when(is('httpRoute/enabled', true), {
    allOf: [at('httpRoute/parentRefs', { minItems: 1 }), at('httpRoute/hostnames', { minItems: 1 })],
  }),
  when(is('config/auth/mode', 'proxy'), at('config/auth/proxy/peers', { minItems: 1 })),
  refuse(
    [is('metrics/serviceMonitor/enabled', true), at('config/metrics/bind-address', { enum: [0, '0'] })],
    'metrics/serviceMonitor/enabled',
    'false, for config.metrics.bind-address = 0 leaves nothing to scrape',
  ),
  refuse(
    [is('metrics/serviceMonitor/token/create', true), at('metrics/serviceMonitor/token/existingSecret', filled)],
    'metrics/serviceMonitor/token/create',
    'false, for existingSecret names a token already',
  ),
  when(at('database/type', { enum: ['postgres', 'mysql'] }), {
    allOf: ['host', 'name', 'username', 'existingSecret', 'passwordKey'].map((key) => at(`database/${key}`, filled)),
  }),
];

const account = object({ create: bool, name: text, annotations: map });
const placement = {
  replicas,
  resources: free,
  nodeSelector: map,
  tolerations: list,
  affinity: free,
  priorityClassName: text,
  podAnnotations: map,
  podLabels: map,
  serviceAccount: account,
  podDisruptionBudget: object({
    enabled: bool,
    maxUnavailable: {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', pattern: '^[0-9]+%$' },
      ],
    },
  }),
};
const percent = { type: 'integer', minimum: 1, maximum: 100 };
const name = { ...filled, maxLength: 253 };

/** The whole schema, as charts/cronjob-monitor/values.schema.json has it. */
export function valuesSchema() {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart cronjob-monitor',
    ...object({
      global: free,
      mode: { enum: ['standalone', 'split'] },
      image: object({
        repository: filled,
        tag: text,
        digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      imagePullSecrets: list,
      fullnameOverride: { type: 'string', maxLength: 50 },
      commonLabels: map,
      config: configSchema(),
      database: object({
        type: { enum: ['sqlite', 'postgres', 'mysql'] },
        host: text,
        port: { ...port, type: ['integer', 'null'] },
        name: text,
        username: text,
        existingSecret: text,
        passwordKey: text,
        sslMode: { enum: ['', 'disable', 'require', 'verify-ca', 'verify-full'] },
        ca: object({ existingSecret: text, key: filled }),
        apiserver: object({ username: text, existingSecret: text, passwordKey: filled }),
      }),
      defaultMonitor: object({
        enabled: bool,
        channels: { type: 'array', items: filled, uniqueItems: true },
        spec: free,
      }),
      persistence: object({
        enabled: bool,
        size: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(Mi|Gi|Ti|M|G|T)$' },
        storageClassName: text,
        accessMode: { enum: ['ReadWriteOnce', 'ReadWriteOncePod'] },
        existingClaim: text,
        keep: bool,
      }),
      controller: object(placement),
      apiserver: object({
        ...placement,
        autoscaling: object({
          enabled: bool,
          minReplicas: { type: 'integer', minimum: 1 },
          maxReplicas: { type: 'integer', minimum: 1 },
          targetCPUUtilizationPercentage: percent,
        }),
      }),
      ui: object({ writes: bool, openToEverybody: bool }),
      service: object({ type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }, port, annotations: map }),
      ingress: object({
        enabled: bool,
        className: text,
        annotations: map,
        hosts: {
          type: 'array',
          items: object(
            { host: name, path: wholeHost, pathType: { enum: ['Prefix', 'Exact', 'ImplementationSpecific'] } },
            { required: ['host'] },
          ),
        },
        tls: list,
      }),
      httpRoute: object({
        enabled: bool,
        annotations: map,
        parentRefs: { type: 'array', items: { type: 'object', required: ['name'], properties: { name } } },
        hostnames: { type: 'array', items: name },
      }),
      metrics: object({
        certificate: object({ existingSecret: text, certKey: filled, keyKey: filled }),
        readers: {
          type: 'array',
          items: object({ name, namespace: namedNamespace }, { required: ['name', 'namespace'] }),
        },
        serviceMonitor: object({
          enabled: bool,
          interval: duration,
          scrapeTimeout: duration,
          labels: map,
          token: object({ create: bool, existingSecret: text, key: filled }),
          tlsConfig: free,
        }),
        prometheusRule: object({ enabled: bool, labels: map }),
        dashboard: object({ enabled: bool, labels: map, annotations: map }),
      }),
      heartbeat: object({ existingSecret: text, key: filled }),
      actionsKey: object({ existingSecret: text, key: filled }),
      caBundle: object({ existingConfigMap: text, key: filled }),
      rbac: object({ create: bool, controllerManagerLease: bool }),
      networkPolicy: object({
        enabled: bool,
        uiFrom: list,
        metricsFrom: list,
        egress: object({
          enabled: bool,
          apiPorts: { type: 'array', items: port, minItems: 1 },
          databaseTo: list,
          receivers: object({ to: list, ports: { type: 'array', items: port } }),
        }),
      }),
      podSecurityContext: free,
      containerSecurityContext: free,
    }),
    required: ['mode', 'database'],
    allOf: combinations,
  };
}
