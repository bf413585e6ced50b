import type { ColumnType } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';

const columnsOf: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  // kind: null for a CronJob of the cluster, 2 for the place of one that is expected. gone_from_at: it was deleted at some time since.
  cronjobs: { kind: 'smallint', last_writer: 'longText', gone_from_at: 'bigint' },
};

/** What is expected and is not there has a row, and the row of a CronJob tells who wrote it last. */
export const nothingSilent: Migration = {
  version: 7,
  name: 'nothing silent',
  readableFrom: 3,
  steps: Object.entries(columnsOf).map(([table, columns]) => ({
    name: `columns of ${table}`,
    statements: (dialect) => dialect.addColumns({ table, columns }),
  })),
};
