import { timelineSortKeys } from '@cronjob-monitor/shared/contract';
import { names, paging, ref, search, sort, whole } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';

export const timelineQuery = {
  hours: whole({ min: 1, max: 168 }),
  namespace: names(),
  monitor: ref(),
  search: search(),
  sort: sort(timelineSortKeys, { key: 'nextRun', descending: false }),
  ...paging,
};
export type TimelineQuery = Values<typeof timelineQuery>;

export const oneTimelineQuery = { count: whole({ min: 1, max: 500 }) };

export const defaultHours = 24;
export const defaultLimit = 50;
export const defaultCount = 20;
/** Runs of one CronJob that the fleet's timeline lists. */
export const mostRunsOfOne = 200;
