import type { ColumnType } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';
import { createTable, optional, required, type Table } from './table.ts';

/** Fire drills of channels. */
export const drillTables: readonly Table[] = [
  {
    name: 'drills',
    columns: {
      id: required('id16'),
      channel_uid: required('id16'),
      channel_name: required({ text: 253 }),
      // Absent: a person asked for it; else the instant of the schedule that it is of, once for each.
      due_at: optional('bigint'),
      created_at: required('bigint'),
      sent_at: optional('bigint'),
      ack_by_at: required('bigint'),
      acked_at: optional('bigint'),
      acked_by: optional({ text: 253 }),
      ended_at: optional('bigint'),
      key_hash: required('id16'),
      outcome: required({ text: 32 }),
    },
    primaryKey: ['id'],
    indexes: [{ on: ['channel_uid', 'due_at'], unique: true }, { on: ['outcome', 'ack_by_at'] }],
  },
];

export const reachColumns: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  // annotations: those of ours, of the CronJob and its Namespace. template_at: its job template is of that time. mirrored: what was written to the CronJob about its health.
  // template_hash: of it. template_runs: its first and its newest run. template_ok: whether the newest succeeded.
  cronjobs: {
    annotations: 'longText',
    template_hash: 'id16',
    template_at: 'bigint',
    template_runs: 'longText',
    template_ok: 'smallint',
    mirrored: 'longText',
  },
  // cause: whose fault a failure is. scope: what else it concerns.
  executions: { cause: 'smallint', scope: { text: 253 } },
  // muted_there: what a receiver says of it that has silences of its own.
  alerts: { cause: 'smallint', scope: { text: 253 }, muted_there: 'longText' },
  channels: { proved_at: 'bigint', proved_by: { text: 253 } },
};

/** Why a run failed and on whose side, what owners say in annotations, what is said of a health elsewhere, and who proved that a channel reaches a person. */
export const reach: Migration = {
  version: 8,
  name: 'reach',
  readableFrom: 3,
  steps: [
    {
      name: 'drills of channels',
      statements: (dialect) => drillTables.flatMap((table) => createTable(table, dialect)),
    },
    ...Object.entries(reachColumns).map(([table, columns]) => ({
      name: `columns of reach of ${table}`,
      statements: (dialect: Parameters<Migration['steps'][number]['statements']>[0]) =>
        dialect.addColumns({ table, columns }),
    })),
  ],
};
