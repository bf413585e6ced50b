import { version, type LoadedConfig } from '@cronjob-monitor/shared/config';
import { createCluster, reviewScrape, toClusterOptions } from '@cronjob-monitor/shared/kube';
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
} from '@cronjob-monitor/shared/process';
import { isWritable, openStore, toStoreSettings } from '@cronjob-monitor/shared/store';
import { schemasOf } from './clusters/schemas-of.ts';
import { createApi } from './create-api.ts';
import { listenApi } from './listener.ts';
import { toApiSettings } from './settings.ts';
import { findUiFolder } from './static.ts';

/** A read of the API may take so long. */
const statementLimitMs = 10_000;
/** Kubernetes takes so long to send no more requests to a pod that is not ready. */
const retireMs = 5_000;
/** Open requests may go on for so long. */
const graceMs = 20_000;

/** Wires the apiserver: what is started last is stopped first. Nothing here waits for a database or a cluster. */
export async function compose(
  loaded: LoadedConfig,
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  lifecycle: Lifecycle,
): Promise<void> {
  const { config } = loaded;
  const metrics = createProcessMetrics({ entryPoint: 'apiserver', version, clock });
  metrics.observe(lifecycle.stopping);

  const neighbours = createNeighbourMetrics({ registry: metrics.registry, clock });
  const cluster = createCluster({ ...toClusterOptions(loaded), clock, logger, answered: neighbours.kubeAnswered });
  lifecycle.onStop('cluster', () => cluster.close());
  const storeSettings = toStoreSettings(config);
  const around = { clock, log: logger, statementLimitMs };
  const store = openStore(storeSettings, { ...around, observer: neighbours.store });
  neighbours.watchPool(() => store.connections());
  neighbours.watchVolume({ freeBytes: () => store.volumeFreeBytes(), isWritable: () => isWritable(store) });
  lifecycle.onStop('store', () => store.close());

  const problems = new ProblemList({ clock, logger });
  problems.tellLog(lifecycle.stopping);
  watchSymptoms({ metrics, problems, intervalsMs: {}, clock }, lifecycle.stopping);
  const api = createApi({
    settings: toApiSettings(loaded),
    store,
    cluster,
    clock,
    logger,
    problems,
    registry: metrics.registry,
    version,
    uiFolder: findUiFolder(),
    ...(config['cluster.show-others'] && schemasOf(storeSettings, around)),
  });
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

  const listener = config['ui.enabled']
    ? await listenApi(api.handler, { host: config['api.host'], port: config['ui.port'] }, { clock, logger })
    : undefined;
  if (listener) lifecycle.onStop('requests', () => listener.close(graceMs), { stopMs: graceMs + 2_000 });
  api.start();
  lifecycle.onStop('api', () => api.stop());
  if (!listener) {
    logger.info('the API is not served: this process acts for services of other clusters alone', {
      probesPort,
      metricsPort,
    });
    return;
  }
  const isPod = loaded.surroundings.apiServer !== undefined;
  lifecycle.onStop('readiness', () => api.retire(isPod ? retireMs : 0), { stopMs: retireMs + 1_000 });
  logger.info('the API is served', { host: config['api.host'], port: listener.port, probesPort, metricsPort });
}
