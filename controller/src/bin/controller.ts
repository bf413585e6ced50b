import { loadOrExplain, logConfig } from '@cronjob-monitor/shared/config';
import { createLogger, runProcess, systemClock } from '@cronjob-monitor/shared/process';
import { composeController } from '../compose.ts';

/** Watches, records and leads; serves probes and metrics alone. */
const start = loadOrExplain({ entryPoint: 'controller' });
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
    compose: (lifecycle) => composeController(loaded, { logger, clock }, lifecycle),
  });
}
