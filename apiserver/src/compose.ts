import { version, type LoadedConfig } from '@cronjob-monitor/shared/config';
import type { Lifecycle } from '@cronjob-monitor/shared/process';
import { listenBeside, openParts, type Surroundings } from '@cronjob-monitor/shared/start';
import { toStoreSettings } from '@cronjob-monitor/shared/store';
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
export async function compose(loaded: LoadedConfig, around: Surroundings, lifecycle: Lifecycle): Promise<void> {
  const { config } = loaded;
  const { logger, clock } = around;
  const parts = openParts(loaded, around, lifecycle, { intervalsMs: {}, statementLimitMs });
  const api = createApi({
    ...parts,
    settings: toApiSettings(loaded),
    version,
    uiFolder: findUiFolder(),
    ...(config['cluster.show-others'] && schemasOf(toStoreSettings(config), { clock, log: logger, statementLimitMs })),
  });
  const { probesPort, metricsPort } = await listenBeside(loaded, parts, lifecycle);

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
