import type { Dialect } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';

const table = 'executions';

/**
 * Fewer and narrower indexes of runs: half of what a run took was indexes. A slot is found by the order of creation. In a heap the UUID
 * leaves the order of creation for a key of its own, and ends need no status but where it is no success.
 */
export const narrowExecutions: Migration = {
  version: 4,
  name: 'narrow executions',
  readableFrom: 3,
  steps: [
    built('created', ['cronjob_id', 'created_at']),
    built('finished', ['cronjob_id', 'finished_at']),
    built('unsuccessful', ['cronjob_id', 'finished_at'], 'status <> 0'),
    {
      name: 'key',
      statements: (dialect) => dialect.movePrimaryKey({ table, index: 'executions_job_uid', columns: ['job_uid'] }),
    },
    dropped('executions_cronjob_id_status_finished_at', ({ hasHeap }) => hasHeap),
    dropped('executions_cronjob_id_scheduled_at', () => true),
    // In a heap it is a summary of ranges, of a few bytes in all.
    dropped('executions_created_at', ({ hasHeap }) => !hasHeap),
  ],
};

function built(name: string, columns: readonly string[], where?: string): Migration['steps'][number] {
  return {
    name: `index ${name}`,
    isAlone: true,
    statements: (dialect) => dialect.addIndexBesideWrites({ name: `${table}_${name}`, table, columns, where }),
  };
}

function dropped(name: string, where: (dialect: Dialect) => boolean): Migration['steps'][number] {
  return {
    name: `without ${name}`,
    statements: (dialect) => (where(dialect) ? dialect.dropIndex({ table, name }) : []),
  };
}
