import type { Migration } from './migration.ts';

/**
 * Narrower columns of runs where a row takes as much as its types say: ids are counted up for new CronJobs alone, and the words are lists of
 * ours. A table that has grown stays as it is; docs/upgrade.md has the statement for it.
 */
export const narrowColumns: Migration = {
  version: 5,
  name: 'narrow columns',
  readableFrom: 3,
  steps: [
    {
      name: 'columns of executions',
      statements: (dialect) =>
        dialect.narrowColumns({
          table: 'executions',
          columns: { cronjob_id: 'int', status: 'tinyint', trigger: 'tinyint' },
          mostRows: 200_000,
        }),
    },
  ],
};
