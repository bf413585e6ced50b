import type { Migration } from './migration.ts';

const table = 'deliveries';

/** What a claim reads of a long outbox: the most urgent messages that are due, and how many a channel was charged for of late. */
export const outboxIndexes: Migration = {
  version: 3,
  name: 'outbox indexes',
  readableFrom: 2,
  steps: [
    {
      name: 'index of urgency',
      statements: (dialect) =>
        dialect.addIndex({ name: 'deliveries_urgency', table, columns: ['state', 'priority', 'next_at', 'id'] }),
    },
    {
      name: 'index of charges',
      statements: (dialect) =>
        dialect.addIndex({ name: 'deliveries_charges', table, columns: ['channel_uid', 'charged_at'] }),
    },
  ],
};
