import { version, type LoadedConfig } from '@cronjob-monitor/shared/config';
import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import { createCluster, reviewScrape, toClusterOptions, type Cluster } from '@cronjob-monitor/shared/kube';
import {
  createConfiguredMetrics,
  createNeighbourMetrics,
  createProbes,
  createProcessMetrics,
  ProblemList,
  watchSymptoms,
  type Clock,
  type Lifecycle,
  type Logger,
  type ProcessMetrics,
} from '@cronjob-monitor/shared/process';
import { isWritable, openStore, toStoreSettings, type Store } from '@cronjob-monitor/shared/store';
import { createController, type Controller } from './replica/create-controller.ts';
import { settingsOf } from './settings/settings-of.ts';

export interface Surroundings {
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Work in flight, queues and the Lease: within what Kubernetes leaves a pod to end. */
const controllerStopMs = 25_000;

/** Wires the controller process: what is started last is stopped first. Nothing here waits for a database or a cluster. */
export async function composeController(
  loaded: LoadedConfig,
  around: Surroundings,
  lifecycle: Lifecycle,
): Promise<void> {
  const parts = openParts(loaded, around, lifecycle);
  const controller = createController({
    ...parts,
    settings: settingsOf(loaded, parts.cluster.ownNamespace ?? 'default'),
  });
  await listenBeside(loaded, around, lifecycle, parts);
  begin(controller, lifecycle);
}

/** What every process of a controller stands on. */
interface Parts extends Surroundings {
  readonly cluster: Cluster;
  readonly store: Store;
  readonly metrics: ProcessMetrics;
  readonly registry: ProcessMetrics['registry'];
  readonly problems: ProblemList;
  readonly exit: (code: number) => void;
  readonly background: (name: string, work: Promise<unknown>) => void;
}

/** Opens what the parts stand on, and stops it after them. Nothing here asks a database or a cluster. */
export function openParts(loaded: LoadedConfig, { logger, clock }: Surroundings, lifecycle: Lifecycle): Parts {
  const metrics = createProcessMetrics({ entryPoint: loaded.entryPoint, version, clock });
  metrics.observe(lifecycle.stopping);
  const neighbours = createNeighbourMetrics({ registry: metrics.registry, clock });
  const evidencePerSecond = loaded.config['evidence.requests-per-second'];
  const cluster = createCluster({
    ...toClusterOptions(loaded),
    evidencePerSecond,
    clock,
    logger,
    answered: neighbours.kubeAnswered,
  });
  lifecycle.onStop('cluster', () => cluster.close());
  const store = openStore(toStoreSettings(loaded.config), { clock, log: logger, observer: neighbours.store });
  neighbours.watchPool(() => store.connections());
  neighbours.watchVolume({ freeBytes: () => store.volumeFreeBytes(), isWritable: () => isWritable(store) });
  lifecycle.onStop('store', () => store.close());
  const problems = new ProblemList({ clock, logger });
  problems.tellLog(lifecycle.stopping);
  watchSymptoms({ metrics, problems, intervalsMs: intervalsOf(loaded.config), clock }, lifecycle.stopping);
  return {
    logger,
    clock,
    cluster,
    store,
    metrics,
    registry: metrics.registry,
    problems,
    exit: (code) => process.exit(code),
    background: (name, work) => lifecycle.background(name, work),
  };
}

/** How often each scheduler runs, by its name. */
function intervalsOf(config: LoadedConfig['config']): Readonly<Record<SchedulerName, number>> {
  return {
    'dead-man-switch': config['scheduler.dead-man-switch-interval'],
    'sla-recalculation': config['scheduler.sla-recalculation-interval'],
    'stuck-job-check': config['scheduler.stuck-job-check-interval'],
    prune: config['scheduler.prune-interval'],
  };
}

/** Probes and metrics: every process has both, from before it is ready. */
export async function listenBeside(
  { config }: LoadedConfig,
  { logger, clock }: Surroundings,
  lifecycle: Lifecycle,
  parts: Parts,
): Promise<void> {
  const probes = createProbes({
    address: config['probes.bind-address'],
    unreadyBecause: () => parts.problems.unreadyBecause(),
  });
  await probes.start();
  lifecycle.onStop('probes', () => probes.stop());
  const review = (token: string, signal: AbortSignal) => reviewScrape(parts.cluster, token, signal);
  const scrapes = createConfiguredMetrics({ config, metrics: parts.metrics, review, clock, logger });
  await scrapes?.start();
  lifecycle.onStop('metrics', () => scrapes?.stop());
}

/** From here on the controller works; its stop is the longest, for work in flight ends first. */
export function begin(controller: Controller, lifecycle: Lifecycle): void {
  controller.start();
  lifecycle.onStop('controller', () => controller.stop(), { stopMs: controllerStopMs });
}
