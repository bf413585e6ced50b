import { gridSortKeys, slotOutcomes } from '@cronjob-monitor/shared/contract';
import { instant, names, paging, ref, search, sort, whole, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';

export const gridQuery = {
  hours: whole({ min: 1, max: 168 }),
  until: instant(),
  namespace: names(),
  monitor: ref(),
  search: search(),
  outcome: words(slotOutcomes),
  sort: sort(gridSortKeys, { key: 'name', descending: false }),
  limit: whole({ min: 1, max: 100, above: 'lowered' }),
  offset: paging.offset,
};
export type GridQuery = Values<typeof gridQuery>;

export const defaultHours = 24;
export const defaultLimit = 50;
/** The newest cells of a CronJob that are listed. */
export const mostCells = 200;
