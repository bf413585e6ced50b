import type { Store } from '@cronjob-monitor/shared/store';
import { now } from './facts.ts';
import { readRows } from './rows.ts';
import { dayMs } from '@cronjob-monitor/shared/domain';

/** The counts of a CronJob's days, oldest first. */
export const dayCounts = async (store: Store, id: number): Promise<unknown> =>
  readRows(
    store,
    `select day, success, failed, replaced, deleted, unobserved, manual, duration_n, duration_sum, duration_min, duration_max, dirty
     from rollups where cronjob_id = ? order by day`,
    [id],
  );
/** The counts of the day of `now`, all 0 but for these. */
export const aDay = (changes: object): object => ({
  day: Math.floor(now / dayMs),
  success: 0,
  failed: 0,
  replaced: 0,
  deleted: 0,
  unobserved: 0,
  manual: 0,
  duration_n: 0,
  duration_sum: 0,
  duration_min: null,
  duration_max: null,
  dirty: 0,
  ...changes,
});
/** The answer of recordRuns when nothing was given. */
export const none = { inserted: [], replaced: [], known: [], cleared: [], orphaned: [] };
