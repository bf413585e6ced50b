/**
 * From when on the watch of a row of `monitor_targets` judges. A row of a release that did not know the column stands for itself until its
 * monitor is written again.
 */
export const judgesFrom = (target: string): string => `coalesce(${target}.judges_from_at, ${target}.first_seen_at)`;

/**
 * Up to where the expected runs of a CronJob are judged: before its first evaluation up to the instant from which on the first of its
 * monitors judges it.
 */
export const judgedThrough = (cronJob: string): string =>
  `coalesce(${cronJob}.evaluated_through_at, (select min(${judgesFrom('w')}) - 1 from monitor_targets w ` +
  `where w.cronjob_id = ${cronJob}.id and w.removed_at is null), ${cronJob}.first_seen_at)`;
