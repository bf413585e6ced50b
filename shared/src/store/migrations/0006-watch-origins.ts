import type { Migration } from './migration.ts';

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
      statements: (dialect) =>
        dialect.addColumns({ table: 'monitor_targets', columns: { judges_from_at: 'bigint', judged_at: 'bigint' } }),
    },
    {
      name: 'columns of monitors',
      statements: (dialect) => dialect.addColumns({ table: 'monitors', columns: { first_uid: 'id16' } }),
    },
    {
      name: 'waits of active Jobs',
      statements: (dialect) =>
        dialect.addColumns({
          table: 'active_jobs',
          columns: { waiting_reason: 'longText', waiting_message: 'longText', hopeless_since_at: 'bigint' },
        }),
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
