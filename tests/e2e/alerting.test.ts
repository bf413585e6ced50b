import { describeAlerts } from './alerting/scenarios.ts';

await describeAlerts('alerts of an installation on SQLite', { database: 'sqlite', brief: false });
