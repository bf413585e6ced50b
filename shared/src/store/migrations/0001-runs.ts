import type { Migration } from './migration.ts';
import { createTable } from './table.ts';
import { catalogTables, runTables, serviceTables } from './tables-of-runs.ts';

/** Catalog, ledger of runs, and the service itself. */
export const runs: Migration = {
  version: 1,
  name: 'runs',
  readableFrom: 1,
  steps: [
    ...[...catalogTables, ...runTables, ...serviceTables].map((table) => ({
      name: `table ${table.name}`,
      statements: (dialect: Parameters<typeof createTable>[1]) => createTable(table, dialect),
    })),
    {
      name: 'row of the leader',
      statements: (dialect) => [`insert into leader (id, epoch) values (1, 0)${dialect.ifAbsent(['id'])}`],
    },
  ],
};
