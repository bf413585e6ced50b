import type { Migration } from './migration.ts';
import { createTable } from './table.ts';
import { alertTables } from './tables-of-alerts.ts';

/** Alerts, what people said about them, and the outbox. */
export const alerts: Migration = {
  version: 2,
  name: 'alerts',
  readableFrom: 1,
  steps: alertTables.map((table) => ({
    name: `table ${table.name}`,
    statements: (dialect) => createTable(table, dialect),
  })),
};
