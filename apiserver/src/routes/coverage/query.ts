import {
  alertTypes,
  coverageSortKeys,
  coverageStates,
  coverageTypes,
  type AlertType,
} from '@cronjob-monitor/shared/contract';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import { flag, names, paging, ref, search, sort, whole, words } from '../../middleware/parameters.ts';
import type { Rule, Values } from '../../middleware/validate.ts';
import { exportFormat } from '../export/answer.ts';

const defaultDays = 30;

export const coverageQuery = {
  namespace: names(),
  state: words(coverageStates),
  monitor: ref(),
  search: search(),
  types: words(alertTypes),
  days: whole({ min: 1, max: 365 }),
  proved: flag(),
  sort: sort(coverageSortKeys, { key: 'state', descending: false }),
  ...paging,
  format: exportFormat,
};
type Asked = Values<typeof coverageQuery>;
export type CoverageQuery = Omit<Asked, 'types' | 'days' | 'proved'> & {
  readonly types: readonly AlertType[];
  readonly days: number;
  readonly proved: boolean;
};

export const coverageRules: readonly Rule<Asked>[] = [offsetNeedsLimit, exportsAreWhole];

/** What the page says where the caller says nothing. */
export function withDefaults({ types, days, proved, ...asked }: Asked): CoverageQuery {
  return {
    ...asked,
    types: types.length === 0 ? coverageTypes : types,
    days: days ?? defaultDays,
    proved: proved ?? false,
  };
}

export const routeQuery = { type: words(alertTypes), days: whole({ min: 1, max: 365 }), proved: flag() };
