import { describeAlerts } from './alerting/scenarios.ts';

await describeAlerts('alerts of a split installation on PostgreSQL', {
  database: 'postgres',
  brief: process.env['FAULTS'] === 'ci',
});
