import type { ColumnType } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';
import { createTable, required, type Table } from './table.ts';

/** Facts that runs tell of their output. */
export const factTables: readonly Table[] = [
  {
    name: 'fact_names',
    columns: { id: required('ownId'), cronjob_id: required('bigint'), name: required({ text: 32 }) },
    indexes: [{ on: ['cronjob_id', 'name'], unique: true }],
  },
  {
    name: 'run_facts',
    columns: {
      cronjob_id: required('bigint'),
      fact_id: required('bigint'),
      created_at: required('bigint'),
      value: required('double'),
      job_uid: required('id16'),
    },
    primaryKey: ['cronjob_id', 'fact_id', 'created_at', 'job_uid'],
  },
];

export const silenceColumns: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  // kind: null for a CronJob of the cluster, 2 for the place of one that is expected. gone_from_at: it was deleted at some time since.
  cronjobs: { kind: 'smallint', last_writer: 'longText', gone_from_at: 'bigint', fact_problems: 'longText' },
};

/** What is expected and is not there has a row, the row of a CronJob tells who wrote it last, and what a run tells of its output is kept with it. */
export const nothingSilent: Migration = {
  version: 7,
  name: 'nothing silent',
  readableFrom: 3,
  steps: [
    { name: 'facts of runs', statements: (dialect) => factTables.flatMap((table) => createTable(table, dialect)) },
    ...Object.entries(silenceColumns).map(([table, columns]) => ({
      name: `columns of ${table}`,
      statements: (dialect: Parameters<Migration['steps'][number]['statements']>[0]) =>
        dialect.addColumns({ table, columns }),
    })),
  ],
};
