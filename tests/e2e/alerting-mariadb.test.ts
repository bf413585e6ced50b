import { describeAlerts } from './alerting/scenarios.ts';

await describeAlerts('alerts of a split installation on MariaDB', {
  database: 'mysql',
  brief: process.env['FAULTS'] === 'ci',
});
