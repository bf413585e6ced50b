import { startProcess } from '@cronjob-monitor/shared/start';
import { composeController } from '../compose.ts';

/** Watches, records and leads; serves probes and metrics alone. */
await startProcess('controller', composeController);
