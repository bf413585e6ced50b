import type { ColumnType, Dialect } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';
import { createTable, optional, required, type Table } from './table.ts';

/** Messages that gather many alerts, and proofs that a channel reaches a person. */
export const personTables: readonly Table[] = [
  {
    name: 'digests',
    columns: {
      id: required('id16'),
      cause: required({ text: 32 }),
      // what it gathers by: the fleet, a scope, or nothing besides its channel
      gathered_by: required({ text: 253 }),
      channel_uid: optional('id16'),
      // of cause, gathered_by and channel while it is open; null once it is closed
      open_key: optional('id16'),
      opened_at: required('bigint'),
      last_entry_at: required('bigint'),
      told_at: optional('bigint'),
      closed_at: optional('bigint'),
      total: required('int', 0),
    },
    primaryKey: ['id'],
    indexes: [{ on: ['open_key'], unique: true }, { on: ['closed_at'] }],
  },
  {
    name: 'drills',
    columns: {
      id: required('id16'),
      channel_uid: required('id16'),
      delivery_id: required('id16'),
      due_at: required('bigint'),
      // from the instant at which the receiver accepted it
      ack_within_ms: required('bigint'),
      sent_at: optional('bigint'),
      ack_by_at: optional('bigint'),
      acked_at: optional('bigint'),
      acked_by: optional({ text: 253 }),
      // SHA-256 of the key in the link
      key_hash: required({ text: 64 }),
      outcome: required({ text: 32 }),
      // null: its schedule
      asked_by: optional({ text: 253 }),
      // null: it waits, or what follows from its end is not done yet
      ended_at: optional('bigint'),
    },
    primaryKey: ['id'],
    indexes: [{ on: ['channel_uid', 'due_at'], unique: true }, { on: ['ended_at'] }],
  },
];

export const personColumns: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  // declared: the words of its owner, in its annotations and those of its namespace.
  // job_marks: of a group of Jobs (kind 1), what else than labels its newest Job is selected by.
  // depends_on: the CronJobs that it waits for, as namespace/name, by its annotation and its monitors.
  cronjobs: { declared: 'longText', job_marks: 'longText', depends_on: 'longText' },
  // news_from_at: its monitor was away since then; what ended in that time is news to it, whatever other monitors were told.
  monitor_targets: { news_from_at: 'bigint' },
  // took_ms: how long the attempt took that was answered.
  alert_decisions: { took_ms: 'int' },
  // earlier_spec: what it asked until respecified_at, by which what happened before then is judged; null: its spec was not changed since.
  monitors: { earlier_spec: 'longText', respecified_at: 'bigint' },
  channels: { proved_at: 'bigint', proved_by: { text: 253 } },
};

/** Messages that gather alerts, drills of channels, and what owners say of their CronJobs. */
export const rightPerson: Migration = {
  version: 9,
  name: 'right person',
  readableFrom: 3,
  steps: [
    {
      name: 'digests and drills',
      statements: (dialect: Dialect) => personTables.flatMap((table) => createTable(table, dialect)),
    },
    { name: 'a storm is a digest', statements: () => ["delete from cluster_state where name = 'storm'"] },
    ...Object.entries(personColumns).map(([table, columns]) => ({
      name: `columns of persons of ${table}`,
      statements: (dialect: Dialect) => dialect.addColumns({ table, columns }),
    })),
  ],
};
