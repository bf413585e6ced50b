import type { ColumnType } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';

/** Columns that this step adds, by table. */
export const originColumns = {
  monitor_targets: { judges_from_at: 'bigint', judged_at: 'bigint' },
  monitors: { first_uid: 'id16' },
  active_jobs: { waiting_reason: 'longText', waiting_message: 'longText', hopeless_since_at: 'bigint' },
  channels: { ready_changed_at: 'bigint' },
  cronjobs: {
    state: 'smallint',
    failed_run: 'longText',
    missed_slot_at: 'bigint',
    broken: 'longText',
    waiting: 'longText',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;

/**
 * From when on a monitor judges a CronJob follows from the cluster's facts. Rows that are there get it from the creations that the catalog
 * knows, and count as judged: their runs were asked about as they were recorded.
 */
export const watchOrigins: Migration = {
  version: 6,
  name: 'watch origins',
  readableFrom: 3,
  steps: [
    {
      name: 'columns of monitor_targets',
      statements: (dialect) => dialect.addColumns({ table: 'monitor_targets', columns: originColumns.monitor_targets }),
    },
    {
      name: 'columns of monitors',
      statements: (dialect) => dialect.addColumns({ table: 'monitors', columns: originColumns.monitors }),
    },
    {
      name: 'waits of active Jobs',
      statements: (dialect) => dialect.addColumns({ table: 'active_jobs', columns: originColumns.active_jobs }),
    },
    {
      name: 'transitions of channels',
      statements: (dialect) => dialect.addColumns({ table: 'channels', columns: originColumns.channels }),
    },
    {
      name: 'verdicts of cronjobs',
      statements: (dialect) => dialect.addColumns({ table: 'cronjobs', columns: originColumns.cronjobs }),
    },
    {
      name: 'facts of verdicts',
      statements: () => [
        `update cronjobs set failed_run = last_run where failed_run is null
          and last_run like '%"status":"failed"%' and last_run like '%"trigger":"scheduled"%'`,
        `update cronjobs set missed_slot_at = (select max(slot_at) from slots where slots.cronjob_id = cronjobs.id)
          where missed_slot_at is null and exists (select 1 from slots where slots.cronjob_id = cronjobs.id
          and slots.outcome = 0 and slots.slot_at = (select max(s.slot_at) from slots s where s.cronjob_id = cronjobs.id))`,
        // Once and roughly: what the leader judges first decides it anew.
        `update cronjobs set state = case when deleted_at is not null then 3 when worst_severity = 'critical' then 0
          when worst_severity = 'warning' then 1 when failed_run is not null or held_alerts > 0 then 2
          when problem is not null or (last_run is null and last_success_at is null) then 3
          when suspended = 1 then 4 else 5 end where state is null`,
      ],
    },
    {
      name: 'origins of watches',
      statements: () => [
        `update monitor_targets set judged_at = first_seen_at, judges_from_at = (
          select case when m.created_at > c.created_at then m.created_at else c.created_at end
          from monitors m, cronjobs c where m.id = monitor_targets.monitor_id and c.id = monitor_targets.cronjob_id)
        where judges_from_at is null`,
      ],
    },
  ],
};
