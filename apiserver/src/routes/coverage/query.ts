import {
  type AlertType,
  alertTypes,
  coverageSortKeys,
  coverageStates,
  coverageTypes,
} from '@cronjob-monitor/shared/contract';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import {
  flag,
  instant,
  namespaces,
  oneMonitor,
  paging,
  search,
  sort,
  whole,
  words,
} from '../../middleware/parameters.ts';
import type { Rule, Values } from '../../middleware/validate.ts';
import { exportFormat } from '../export/answer.ts';

const defaultDays = 30;

const provedChannels = {
  days: whole('A channel has to have accepted something within so many days; 30 without it.', { min: 1, max: 365 }),
  proved: flag('A channel counts as proved only where a person has acknowledged a drill of it within `days`.'),
};

export const coverageQuery = {
  namespace: namespaces,
  state: words('States.', coverageStates),
  monitor: oneMonitor,
  search: search(),
  types: words(
    'Types that have to be heard of; without it jobFailed, missedSchedule and deadManTriggered.',
    alertTypes,
  ),
  ...provedChannels,
  sort: sort(coverageSortKeys, { key: 'state', descending: false }, 'state, the worst first'),
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

export function withDefaults({ types, days, proved, ...asked }: Asked): CoverageQuery {
  return {
    ...asked,
    types: types.length === 0 ? coverageTypes : types,
    days: days ?? defaultDays,
    proved: proved ?? false,
  };
}

export const routeQuery = {
  type: words('Types.', alertTypes),
  ...provedChannels,
  at: instant('The instant that is asked about, from now to 31 days ahead; now without it.'),
};
