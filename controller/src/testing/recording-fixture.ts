import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster, type Cluster } from '@cronjob-monitor/shared/kube';
import { createLogger, systemClock, ProblemList } from '@cronjob-monitor/shared/process';
import { openStore, type Store } from '@cronjob-monitor/shared/store';
import { until, monitorDefaults } from '@cronjob-monitor/shared/testing';
import { createSimCluster, type SimCluster } from '@cronjob-monitor/simcluster';
import { Registry } from 'prom-client';
import { createController, type Controller } from '../replica/create-controller.ts';
import type { ControllerSettings } from '../settings/settings.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A controller at work on a simulated cluster and a database file of its own. */
export interface RecordingFixture {
  readonly sim: SimCluster;
  readonly store: Store;
  readonly registry: Registry;
  /** Codes with which the process would have ended. */
  readonly exits: number[];
  /** Ends the controller and starts another on the same file; `meanwhile` happens while none is there. */
  restart(change?: Partial<ControllerSettings>, meanwhile?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export const settings: ControllerSettings = {
  version: 'v0.0.0',
  ownNamespace: 'default',
  podName: 'pod',
  identity: 'pod_1',
  defaultZone: 'UTC',
  isDefaultZoneGiven: true,
  ownerLabel: undefined,
  ownerEvents: true,
  watchNamespaces: [],
  mirror: 'off',
  reach: { ignoredNamespaces: ['kube-system'], watchNamespaces: [], crossNamespaceFrom: [] },
  secrets: { namespaces: ['default'], labelled: [] },
  monitorDefaults: { ...monitorDefaults, storeLogs: true, storeEvents: false },
  specChecks: {},
  election: undefined,
  leaseMs: 15_000,
  installation: { name: 'own', isShared: false },
  maxOpenConns: undefined,
  servesApi: false,
  isFileStorage: false,
  spoolPath: undefined,
  schedulers: {
    deadManSwitchMs: 60_000,
    slaRecalculationMs: 300_000,
    stuckJobCheckMs: 60_000,
    pruneMs: 3_600_000,
    startupGraceMs: 0,
  },
  globalLimit: { periodMs: 1_200, burst: 10 },
  channels: { deny: [], allow: ['127.0.0.0/8'], pagingEndpoints: [] },
  heartbeatUrl: undefined,
  stormThreshold: 20,
  clusterName: undefined,
  externalUrl: undefined,
  retention: { defaultDays: 30, maxDays: 90, logDays: 0, alertDays: 90, rollupDays: 400 },
  evidence: {
    messageWaitMs: 250,
    concurrency: 8,
    perNode: 2,
    readTimeoutMs: 10_000,
    maxAttempts: 3,
    redactPatterns: [],
  },
};

/** Starts it with one monitor that selects everything in the namespace `prod`; `before`: what the cluster sees before. */
export async function startRecording(
  change: Partial<ControllerSettings> = {},
  before: (sim: SimCluster) => Promise<void> = async () => {},
): Promise<RecordingFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'));
  const sim = createSimCluster({ token: 'T', nodes: ['node-1'], schedulePods: true });
  await sim.start();
  for (const object of definitions()) sim.objects.put(object);
  await until(() => definitions().every((object) => isEstablished(sim, object)));
  for (const object of initialObjects()) sim.objects.put(object);
  await before(sim);
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(sim.url));
  const exits: number[] = [];
  const logger = createLogger({ level: 'error', format: 'text', clock: systemClock });
  let parts = await begin(change);
  let starts = 1;
  return {
    sim,
    get store() {
      return parts.store;
    },
    get registry() {
      return parts.registry;
    },
    exits,
    async restart(again = {}, meanwhile = async () => {}) {
      await end(parts);
      await meanwhile();
      starts++;
      parts = await begin({ ...change, identity: `pod_${starts}`, ...again });
    },
    async stop() {
      await end(parts);
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };

  async function begin(more: Partial<ControllerSettings>): Promise<Running> {
    const cluster = createCluster({ kubeconfig, clock: systemClock, logger });
    const store = openStore({ type: 'sqlite', path: join(folder, 'monitor.db') }, { clock: systemClock, log: logger });
    const registry = new Registry();
    const background: Promise<unknown>[] = [];
    const controller = createController({
      settings: { ...settings, ...more },
      cluster,
      store,
      clock: systemClock,
      logger,
      registry,
      problems: new ProblemList({ clock: systemClock, logger }),
      exit: (code) => exits.push(code),
      background: (_name, work) => void background.push(work.catch(() => {})),
    });
    controller.start();
    return { controller, cluster, store, registry, background };
  }
}

interface Running {
  readonly controller: Controller;
  readonly cluster: Cluster;
  readonly store: Store;
  readonly registry: Registry;
  readonly background: Promise<unknown>[];
}

async function end({ controller, cluster, store, background }: Running): Promise<void> {
  await controller.stop();
  await Promise.all(background);
  await cluster.close();
  await store.close();
}

/** A CronJob whose schedule does not come during a test: its Jobs are made by hand, as `makeJob` does. */
export function aCronJobObject(name: string, spec: Fields = {}, jobSpec: Fields = {}): Fields {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { namespace: 'prod', name },
    spec: {
      schedule: '0 0 1 1 *',
      successfulJobsHistoryLimit: 1000,
      failedJobsHistoryLimit: 1000,
      ...spec,
      jobTemplate: { spec: { ...jobSpec, template: podTemplate('success') } },
    },
  };
}

/** A Job that the CronJob controls, played with the given outcome. */
export function aJobObject(
  owner: { readonly uid: string; readonly name: string },
  name: string,
  outcome: string,
  spec: Fields = {},
): Fields {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'prod',
      name,
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: owner.name, uid: owner.uid, controller: true },
      ],
    },
    spec: { backoffLimit: 0, ...spec, template: podTemplate(outcome) },
  };
}

function podTemplate(outcome: string): Fields {
  const prefix = 'sim.cronjob-monitor.io/';
  return {
    metadata: {
      annotations: {
        [`${prefix}outcome`]: outcome,
        [`${prefix}seconds`]: '0.2',
        [`${prefix}log`]: `log of ${outcome}`,
      },
    },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example.org/main:1' }] },
  };
}

function definitions(): Fields[] {
  const definition = (plural: string, kind: string, scope: string): Fields => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.cronjob-monitor.io` },
    spec: {
      group: 'cronjob-monitor.io',
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  return [
    definition('cronjobmonitors', 'CronJobMonitor', 'Namespaced'),
    definition('alertchannels', 'AlertChannel', 'Cluster'),
  ];
}

function isEstablished(sim: SimCluster, definition: Fields): boolean {
  const { name } = definition['metadata'] as { name: string };
  const found = sim.objects.find({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name });
  const conditions =
    (found?.['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

function initialObjects(): Fields[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } },
    {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { namespace: 'prod', name: 'all' },
      spec: {},
    },
  ];
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'sim',
    clusters: [{ name: 'sim', cluster: { server } }],
    contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'sim', namespace: 'default' } }],
    users: [{ name: 'sim', user: { token: 'T' } }],
  });
}
