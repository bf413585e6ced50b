import type { Migration } from './migration.ts';
import { createTable, optional, required, type Table } from './table.ts';

/** What services of other clusters ask the service of this one to do. */
export const actionsTable: Table = {
  name: 'actions',
  columns: {
    id: required('id16'),
    created_at: required('bigint'),
    expires_at: required('bigint'),
    ended_at: optional('bigint'),
    // agent: no action, but an agent that says until when it takes some
    kind: required({ text: 32 }),
    state: required({ text: 32 }),
    namespace: required({ text: 63 }),
    name: required({ text: 253 }),
    // HMAC-SHA256 of all that is meant, in hexadecimal digits
    mac: required({ text: 64 }),
    claimed_by: optional({ text: 253 }),
    args: required('longText'),
    asked_by: required('longText'),
    result: optional('longText'),
  },
  primaryKey: ['id'],
  indexes: [{ on: ['state', 'id'] }],
  churning: true,
  updated: true,
};

/** Actions that are asked for from other clusters. */
export const actions: Migration = {
  version: 11,
  name: 'actions',
  readableFrom: 3,
  steps: [{ name: 'actions', statements: (dialect) => createTable(actionsTable, dialect) }],
};
