/**
 * From when on the watch of a row of `monitor_targets` judges this row of `cronjobs`. For a row of a release that did not know the column it
 * follows from the creations until its monitor is written again: when a row was written decides nothing.
 */
export const judgesFrom = (target: string, cronJob: string): string =>
  `coalesce(${target}.judges_from_at, (select case when o.created_at > ${cronJob}.created_at then o.created_at ` +
  `else ${cronJob}.created_at end from monitors o where o.id = ${target}.monitor_id))`;

/**
 * Up to where the expected runs of a CronJob are judged: before its first evaluation up to the instant from which on the first of its
 * monitors judges it.
 */
export const judgedThrough = (cronJob: string): string =>
  `coalesce(${cronJob}.evaluated_through_at, (select min(${judgesFrom('w', cronJob)}) - 1 from monitor_targets w ` +
  `where w.cronjob_id = ${cronJob}.id and w.removed_at is null), ${cronJob}.first_seen_at)`;
