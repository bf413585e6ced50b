import { migrations } from '../../../shared/src/store/migrations/index.ts';
import type { Migration } from '../../../shared/src/store/migrations/migration.ts';
import { createTable, optional, required } from '../../../shared/src/store/migrations/table.ts';

/**
 * Loaded before an entry point: the process is of a later release, whose schema has one more step. It expands, as every step does: a
 * column, an index over what is there, and a table; programs of this release may use it.
 */
const version = migrations.length + 1;
const next: Migration = {
  version,
  name: 'of the next release',
  readableFrom: version - 1,
  steps: [
    { name: 'column', statements: () => ['alter table executions add column if not exists next_note integer'] },
    {
      name: 'index',
      statements: (dialect) =>
        dialect.addIndex({ name: 'executions_next', table: 'executions', columns: ['node', 'created_at'] }),
    },
    {
      name: 'table',
      statements: (dialect) =>
        createTable(
          { name: 'next_notes', columns: { id: required('bigint'), note: optional('longText') }, primaryKey: ['id'] },
          dialect,
        ),
    },
  ],
};
// The list is read when a process migrates, and only this program adds to it.
(migrations as Migration[]).push(next);
