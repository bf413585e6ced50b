import type { KindRegistry } from '../kinds/registry.ts';

const startHooks = `
apiservice-discovery-controller apiservice-openapi-controller apiservice-openapiv3-controller
apiservice-registration-controller apiservice-status-local-available-controller
apiservice-status-remote-available-controller bootstrap-controller crd-informer-synced generic-apiserver-start-informers
kube-apiserver-autoregistration priority-and-fairness-config-consumer priority-and-fairness-config-producer
priority-and-fairness-filter rbac/bootstrap-roles scheduling/bootstrap-system-priority-classes
start-apiextensions-controllers start-apiextensions-informers start-apiserver-admission-initializer
start-cluster-authentication-info-controller start-kube-aggregator-informers start-kube-apiserver-identity-lease-controller
start-kube-apiserver-identity-lease-garbage-collector start-kubernetes-service-cidr-controller
start-legacy-token-tracking-controller start-service-ip-repair-controllers start-system-namespaces-controller
storage-object-count-tracker-hook
`;

const hooks = startHooks
  .split(/\s+/)
  .filter((hook) => hook !== '')
  .map((hook) => `poststarthook/${hook}`);
const checks = ['autoregister-completion', 'etcd', 'log', 'ping', ...hooks];

const checksByPage: Readonly<Record<string, readonly string[]>> = {
  healthz: checks,
  livez: checks,
  readyz: [...checks, 'etcd-readiness', 'informer-sync', 'shutdown'],
};

const otherPaths = [
  '/.well-known/openid-configuration',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/version',
];

/** Whether a path is a health page, or one check of it. */
export function isHealthPath(path: string): boolean {
  const [, page = '', ...check] = path.split('/');
  const known = checksByPage[page];
  return known !== undefined && (check.length === 0 || known.includes(check.join('/')));
}

/** All paths that the root page lists, sorted. */
export function rootPaths(registry: KindRegistry): string[] {
  const groups = registry
    .groups()
    .flatMap((group) => [`/apis/${group.name}`, ...group.versions.map((version) => `/apis/${group.name}/${version}`)]);
  const health = Object.entries(checksByPage).flatMap(([page, names]) => [
    `/${page}`,
    ...names.map((name) => `/${page}/${name}`),
  ]);
  return ['/api', '/api/v1', '/apis', '/apis/', ...groups, ...health, ...otherPaths].toSorted();
}
