/** What several routes of the apiserver reckon with: rules of one file each. */
const pureFiles = ['monitor-spec', 'next-run', 'object-name', 'sla-verdict', 'windows', 'wire-values'].map(
  (name) => `apiserver/${name}.ts`,
);

/**
 * Who may import whom. A room is named by its path; a file directly in `src` is a room of its own when it stands in the table,
 * else it belongs to the wiring of its package.
 *
 * Behind a colon stands how much of a room is open: `types` (nothing that is left when the program runs), `reads` (no question
 * that writes), or the one name that may be taken. Open to all without a word here: oneself; types of contract and domain, the
 * words in which everything else speaks (but to webui, which knows the contract alone); types of `shared/process` and
 * `shared/config` (but to contract and domain); types of the wiring of one's own package.
 */
export const allowedImports: Readonly<Record<string, readonly string[]>> = {
  'shared/contract': [],
  'shared/domain': ['shared/contract'],
  'shared/config': ['shared/contract', 'shared/domain'],
  'shared/kube': ['shared/contract', 'shared/domain', 'shared/config:types'],
  'shared/store': ['shared/contract', 'shared/domain', 'shared/config:types'],
  // What is wrong with a process, and of what it is a symptom, is decided in the domain.
  'shared/process': ['shared/config:types', 'shared/domain'],
  // What the three processes begin with, and stand on.
  'shared/start': ['shared/config', 'shared/kube', 'shared/store', 'shared/process'],
  'shared/testing': ['shared/contract', 'shared/domain', 'shared/kube:types', 'shared/process'],

  // The error classes belong to the interfaces of cluster and store, and are told apart by `instanceof`.
  'controller/runtime': ['shared/kube:types', 'shared/kube:ClusterError', 'shared/store:StoreError', 'shared/process'],
  'controller/settings': ['shared/domain', 'shared/kube', 'shared/store', 'shared/config', 'controller/leadership'],
  'controller/leadership': ['shared/kube', 'shared/store', 'shared/process'],
  'controller/channels': ['shared/contract', 'shared/domain', 'shared/process'],
  'controller/evidence': [
    'shared/domain',
    'shared/kube',
    'shared/store',
    'shared/process',
    'controller/alerting',
    'controller/runtime',
    'controller/settings',
    'controller/selection:types',
    'controller/leadership:types',
    'controller/metrics',
    'controller/reconcilers:types',
  ],
  'controller/alerting': ['shared/domain', 'shared/store'],
  'controller/outbox': [
    'shared/domain',
    'shared/store',
    'shared/kube',
    'controller/alerting',
    'controller/channels',
    'controller/metrics',
  ],
  'controller/evaluate': [
    'shared/domain',
    'shared/kube',
    'shared/store',
    'shared/process:withinLimit',
    'controller/alerting:raise',
    'controller/metrics',
    'controller/selection:types',
  ],
  'controller/figures': [
    'shared/contract',
    'shared/domain',
    'shared/kube:routeRulesOf',
    'shared/store',
    'controller/metrics',
    'controller/selection:types',
  ],
  'controller/selection': ['shared/domain', 'shared/kube', 'controller/runtime', 'controller/metrics:types'],
  'controller/reconcilers': [
    'shared/domain',
    'shared/kube',
    'shared/store',
    'controller/runtime',
    'controller/selection',
    'controller/evaluate',
    'controller/alerting:raise',
    'controller/evidence',
    'controller/figures:types',
    'controller/metrics',
  ],
  'controller/schedulers': ['shared/domain', 'shared/store', 'controller/evaluate', 'controller/metrics'],
  'controller/metrics': ['shared/contract', 'shared/process'],
  'controller/commands': [
    'shared/contract',
    'shared/domain',
    'shared/config',
    'shared/store',
    'shared/kube',
    'shared/process:startTimeLimit',
  ],

  'apiserver/errors.ts': ['shared/contract'],
  // The caller whom authentication found is part of every request.
  'apiserver/context.ts': ['shared/contract', 'apiserver/auth:types'],
  'apiserver/metrics.ts': ['shared/contract', 'shared/process', 'apiserver/context.ts'],
  'apiserver/static.ts': ['shared/contract', 'apiserver/context.ts', 'apiserver/errors.ts'],
  'apiserver/openapi': [
    'shared/contract',
    'apiserver/middleware',
    'apiserver/routes',
    'apiserver/context.ts',
    'apiserver/errors.ts',
  ],
  'apiserver/auth': ['shared/contract', 'shared/kube', 'shared/process', 'apiserver/context.ts', 'apiserver/errors.ts'],
  'apiserver/middleware': [
    'shared/contract',
    'apiserver/auth:types',
    'apiserver/context.ts',
    'apiserver/errors.ts',
    'apiserver/object-name.ts',
  ],
  'apiserver/live': ['shared/contract', 'shared/domain', 'shared/store:reads', 'apiserver/errors.ts'],
  'apiserver/actions': [
    'shared/contract',
    'shared/domain',
    'shared/store',
    'shared/kube',
    'shared/process:startTimeLimit',
    'apiserver/errors.ts',
    ...pureFiles,
  ],
  'apiserver/routes': [
    'shared/contract',
    'shared/domain',
    'shared/store:reads',
    'shared/config:presentConfig',
    'shared/process',
    'apiserver/actions',
    'apiserver/auth',
    'apiserver/live',
    'apiserver/middleware',
    'apiserver/context.ts',
    'apiserver/errors.ts',
    ...pureFiles,
  ],
  ...Object.fromEntries(
    pureFiles.map((file) => [file, ['shared/contract', 'shared/domain', 'apiserver/errors.ts', ...pureFiles]]),
  ),

  webui: ['shared/contract'],
};

/** What the wiring of a package may import: every shared room, and its own package. */
export const sharedRooms = [
  'shared/contract',
  'shared/domain',
  'shared/config',
  'shared/kube',
  'shared/store',
  'shared/process',
  'shared/start',
] as const;

/** The single edge between the two packages. */
export const packageEdge = { from: 'controller/src/bin/standalone.ts', to: 'apiserver/src/index.ts' } as const;

/** Subfolders of these are rooms that know nothing of one another. */
export const separateInside = ['controller/reconcilers'] as const;
