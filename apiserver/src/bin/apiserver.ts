import { startProcess } from '@cronjob-monitor/shared/start';
import { compose } from '../compose.ts';

/** The REST API and the user interface, from the database that a controller fills. */
await startProcess('apiserver', compose);
