import { createApi, findUiFolder, listenApi, schemasOf, toApiSettings } from '@cronjob-monitor/apiserver';
import { loadOrExplain, logConfig, version, type LoadedConfig } from '@cronjob-monitor/shared/config';
import { createLogger, runProcess, systemClock, type Lifecycle } from '@cronjob-monitor/shared/process';
import { toStoreSettings } from '@cronjob-monitor/shared/store';
import { begin, listenBeside, openParts, type Surroundings } from '../compose.ts';
import { createController } from '../replica/create-controller.ts';
import { settingsOf } from '../settings/settings-of.ts';

/** Open requests may go on for so long. */
const requestsMs = 3_000;

/** Controller, REST API and user interface in one process. */
const start = loadOrExplain({ entryPoint: 'standalone' });
if ('exitStatus' in start) {
  process.exitCode = start.exitStatus;
} else {
  const { loaded } = start;
  const { config } = loaded;
  const clock = systemClock;
  const logger = createLogger({ level: config['log-level'], format: config['log-format'], clock });
  logConfig(loaded, logger);
  await runProcess({
    logger,
    clock,
    heap: 'small',
    compose: (lifecycle) => composeStandalone(loaded, { logger, clock }, lifecycle),
  });
}

/** Wires both in one process, on one store and one client: the only form that may keep its rows in a file. */
async function composeStandalone(loaded: LoadedConfig, around: Surroundings, lifecycle: Lifecycle): Promise<void> {
  const { config } = loaded;
  const { logger, clock } = around;
  const parts = openParts(loaded, around, lifecycle);
  const controller = createController({
    ...parts,
    settings: settingsOf(loaded, parts.cluster.ownNamespace ?? 'default'),
  });
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
  await listenBeside(loaded, around, lifecycle, parts);
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
