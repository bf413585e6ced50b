import { createApi, findUiFolder, listenApi, schemasOf, toApiSettings } from '@cronjob-monitor/apiserver';
import { version, type LoadedConfig } from '@cronjob-monitor/shared/config';
import type { Lifecycle } from '@cronjob-monitor/shared/process';
import { listenBeside, startProcess, type Surroundings } from '@cronjob-monitor/shared/start';
import { toStoreSettings } from '@cronjob-monitor/shared/store';
import { begin, wireController } from '../compose.ts';

/** Open requests may go on for so long. */
const requestsMs = 3_000;

/** Controller, REST API and user interface in one process. */
await startProcess('standalone', composeStandalone);

/** Wires both in one process, on one store and one client: the only form that may keep its rows in a file. */
async function composeStandalone(loaded: LoadedConfig, around: Surroundings, lifecycle: Lifecycle): Promise<void> {
  const { config } = loaded;
  const { logger, clock } = around;
  const { parts, controller } = wireController(loaded, around, lifecycle);
  const api =
    config['ui.enabled'] || config['cluster.actions-key-file'] !== undefined
      ? createApi({
          ...parts,
          settings: toApiSettings(loaded),
          version,
          uiFolder: findUiFolder(),
          ...(config['cluster.show-others'] && schemasOf(toStoreSettings(config), { clock, log: logger })),
        })
      : undefined;
  await listenBeside(loaded, parts, lifecycle);
  begin(controller, lifecycle);
  if (!api) return;
  if (config['ui.enabled']) {
    const listener = await listenApi(
      api.handler,
      { host: config['api.host'], port: config['ui.port'] },
      { clock, logger },
    );
    lifecycle.onStop('requests', () => listener.close(requestsMs), { stopMs: requestsMs + 1_000 });
    logger.info('the API is served', { host: config['api.host'], port: listener.port });
  }
  // Without a listener it acts for services of other clusters.
  api.start();
  lifecycle.onStop('api', () => api.stop());
}
