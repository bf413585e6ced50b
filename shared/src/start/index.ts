import { loadOrExplain, logConfig, version, type EntryPoint, type LoadedConfig } from '../config/index.ts';
import { createCluster, reviewScrape, type Cluster, type ClusterOptions } from '../kube/index.ts';
import {
  createConfiguredMetrics,
  createLogger,
  createNeighbourMetrics,
  createProbes,
  createProcessMetrics,
  ProblemList,
  runProcess,
  systemClock,
  watchSymptoms,
  type Clock,
  type Lifecycle,
  type Logger,
  type ProcessMetrics,
} from '../process/index.ts';
import { isWritable, openStore, toStoreSettings, type Store } from '../store/index.ts';

/** What every part of a process is handed. */
export interface Surroundings {
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Runs one of the three processes from its arguments to its end. It answers `--help` and the like, and explains a configuration
 * that cannot work, without wiring anything.
 */
export async function startProcess(
  entryPoint: EntryPoint,
  /** Wires and starts everything; each part registers its stop. */
  compose: (loaded: LoadedConfig, around: Surroundings, lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  const start = loadOrExplain({ entryPoint });
  if ('exitStatus' in start) {
    process.exitCode = start.exitStatus;
    return;
  }
  const { loaded } = start;
  const clock = systemClock;
  const logger = createLogger({ level: loaded.config['log-level'], format: loaded.config['log-format'], clock });
  logConfig(loaded, logger);
  await runProcess({
    logger,
    clock,
    compose: (lifecycle) => compose(loaded, { logger, clock }, lifecycle),
  });
}

/** What every process stands on. */
export interface Parts extends Surroundings {
  readonly cluster: Cluster;
  readonly store: Store;
  readonly metrics: ProcessMetrics;
  readonly registry: ProcessMetrics['registry'];
  readonly problems: ProblemList;
}

/** Opens what the process stands on, and stops it after all that is wired later. Nothing here asks a database or a cluster. */
export function openParts(
  loaded: LoadedConfig,
  { logger, clock }: Surroundings,
  lifecycle: Lifecycle,
  own: {
    /** How often each scheduler of the process runs, by its name. */
    readonly intervalsMs: Readonly<Record<string, number>>;
    /** Calls a second for logs and events; absent: as many as for all else. */
    readonly evidencePerSecond?: number;
    /** Longest statement; absent: as the store has it. */
    readonly statementLimitMs?: number;
  },
): Parts {
  const metrics = createProcessMetrics({ entryPoint: loaded.entryPoint, version, clock });
  metrics.observe(lifecycle.stopping);
  const neighbours = createNeighbourMetrics({ registry: metrics.registry, clock });
  const cluster = createCluster({
    ...toClusterOptions(loaded),
    evidencePerSecond: own.evidencePerSecond,
    clock,
    logger,
    answered: neighbours.kubeAnswered,
  });
  lifecycle.onStop('cluster', () => cluster.close());
  const store = openStore(toStoreSettings(loaded.config), {
    clock,
    log: logger,
    statementLimitMs: own.statementLimitMs,
    observer: neighbours.store,
  });
  neighbours.watchPool(() => store.connections());
  neighbours.watchVolume({ freeBytes: () => store.volumeFreeBytes(), isWritable: () => isWritable(store) });
  lifecycle.onStop('store', () => store.close());
  const problems = new ProblemList({ clock, logger });
  problems.tellLog(lifecycle.stopping);
  watchSymptoms({ metrics, problems, intervalsMs: own.intervalsMs, clock }, lifecycle.stopping);
  return { logger, clock, cluster, store, metrics, registry: metrics.registry, problems };
}

/** Listens for probes and scrapes: every process does, from before it is ready. */
export async function listenBeside(
  { config }: LoadedConfig,
  { cluster, metrics, problems, logger, clock }: Parts,
  lifecycle: Lifecycle,
): Promise<{ readonly probesPort: number; readonly metricsPort: number | undefined }> {
  const probes = createProbes({
    address: config['probes.bind-address'],
    unreadyBecause: () => problems.unreadyBecause(),
  });
  const probesPort = await probes.start();
  lifecycle.onStop('probes', () => probes.stop());
  const review = (token: string, signal: AbortSignal) => reviewScrape(cluster, token, signal);
  const scrapes = createConfiguredMetrics({ config, metrics, review, clock, logger });
  const metricsPort = await scrapes?.start();
  lifecycle.onStop('metrics', () => scrapes?.stop());
  return { probesPort, metricsPort };
}

/** Which cluster, as whom, and how often it may be asked, from `cluster.*` and KUBECONFIG. */
function toClusterOptions({
  config,
  surroundings,
}: Pick<LoadedConfig, 'config' | 'surroundings'>): Omit<ClusterOptions, 'clock' | 'logger'> {
  return {
    kubeconfig: config['cluster.kubeconfig'] ?? surroundings.kubeconfig,
    context: config['cluster.context'],
    requestsPerSecond: config['cluster.requests-per-second'],
    burst: 2 * config['cluster.requests-per-second'],
  };
}
