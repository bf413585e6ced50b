import { loadOrExplain, logConfig } from '@cronjob-monitor/shared/config';
import { createLogger, runProcess, systemClock } from '@cronjob-monitor/shared/process';
import { compose } from '../compose.ts';

/** The REST API and the user interface, from the database that a controller fills. */
const start = loadOrExplain({ entryPoint: 'apiserver' });
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
    heap: 'fast',
    compose: (lifecycle) => compose(loaded, { logger, clock }, lifecycle),
  });
}
