import type { Migration } from './migration.ts';
import { createTable, optional, required, type Table } from './table.ts';

/** What lists are sorted by: each behind what a list is about, and before what orders equal values. */
const sorted = [
  'status_rank',
  'verdict_rank',
  'active_alerts',
  'rate',
  'last_run_at',
  'last_duration_ms',
  'last_success_at',
  'next_run_at',
] as const;

/** One narrow row for each row of `cronjobs`: all that lists are filtered, sorted and counted by. */
export const listTable: Table = {
  name: 'cronjob_list',
  columns: {
    cronjob_id: required('bigint'),
    last_run_at: optional('bigint'),
    last_duration_ms: optional('bigint'),
    last_success_at: optional('bigint'),
    // 0: to be computed when it is asked for; null: it runs no more
    next_run_at: optional('bigint'),
    // the monitor whose target is shown, and what that asks; min_rate null: no target
    lead_id: optional('bigint'),
    min_rate: optional('double'),
    // percent, of the scheduled runs in the window of lead_id; null: none ended in it
    rate: optional('double'),
    // when the window was counted last
    rated_at: required('bigint'),
    win_ok: required('int'),
    win_all: required('int'),
    running: required('int'),
    active_alerts: required('int'),
    min_runs: required('int'),
    win_days: required('int'),
    with_missed: required('smallint'),
    // see shownAs
    shown: required('smallint'),
    status_rank: required('smallint'),
    verdict_rank: required('smallint'),
    suspended: required('smallint'),
    namespace: required({ text: 63 }),
    name: required({ text: 253 }),
  },
  primaryKey: ['cronjob_id'],
  indexes: [
    { on: ['shown', 'namespace', 'name'] },
    { on: ['shown', 'name', 'namespace'] },
    // for counts
    { on: ['shown', 'status_rank', 'suspended', 'running'] },
    ...sorted.map((column) => ({ on: ['shown', column, 'namespace', 'name'] })),
  ],
  churning: true,
  updated: true,
};

/** Lists are answered by one narrow table. */
export const cronJobListing: Migration = {
  version: 10,
  name: 'list of CronJobs',
  readableFrom: 3,
  steps: [{ name: 'list of CronJobs', statements: (dialect) => createTable(listTable, dialect) }],
};
