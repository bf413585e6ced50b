import { monitorPhases, monitorSortKeys } from '@cronjob-monitor/shared/contract';
import { names, paging, search, sort, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';

export const monitorsQuery = {
  namespace: names(),
  phase: words(monitorPhases),
  search: search(),
  sort: sort(monitorSortKeys, { key: 'name', descending: false }),
  ...paging,
};
export type MonitorsQuery = Values<typeof monitorsQuery>;
