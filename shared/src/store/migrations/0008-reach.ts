import type { ColumnType, Dialect } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';

export const reachColumns: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  // template_at: its job template is of that time. template_hash: of it. template_runs: its first and its newest run. template_ok: whether the newest succeeded.
  cronjobs: {
    template_hash: 'id16',
    template_at: 'bigint',
    template_runs: 'longText',
    template_ok: 'smallint',
  },
  // cause: whose fault a failure is. scope: what else it concerns.
  executions: { cause: 'smallint', scope: { text: 253 } },
  // muted_there: what a receiver says of it that has silences of its own.
  alerts: { cause: 'smallint', scope: { text: 253 }, muted_there: 'longText' },
};

/** Whose fault a failure is, how a job template fares since it was written, and what a receiver with silences of its own says of an alert. */
export const reach: Migration = {
  version: 8,
  name: 'reach',
  readableFrom: 3,
  steps: Object.entries(reachColumns).map(([table, columns]) => ({
    name: `columns of reach of ${table}`,
    statements: (dialect: Dialect) => dialect.addColumns({ table, columns }),
  })),
};
