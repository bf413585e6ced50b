import {
  cronJobKinds,
  cronJobSortKeys,
  cronJobStatusFilters,
  healthStates,
  slaVerdicts,
} from '@cronjob-monitor/shared/contract';
import { flag, names, paging, ref, search, sort, whole, words } from '../../middleware/parameters.ts';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import type { Rule, Values } from '../../middleware/validate.ts';
import { exportFormat } from '../export/answer.ts';

export const cronJobsQuery = {
  namespace: names(),
  kind: words(cronJobKinds),
  status: words(cronJobStatusFilters),
  state: words(healthStates),
  search: search(),
  similar: flag(),
  monitor: ref(),
  sla: words(slaVerdicts),
  includeRemoved: flag(),
  recent: whole({ min: 0, max: 30 }),
  sort: sort(cronJobSortKeys, { key: 'name', descending: false }),
  ...paging,
  format: exportFormat,
};
export type CronJobsQuery = Values<typeof cronJobsQuery>;

/** Strips of a whole fleet would be a history, not a list. */
const recentNeedsLimit: Rule<CronJobsQuery> = ({ recent = 0, limit }) =>
  recent > 0 && limit === undefined
    ? [{ in: 'query', field: 'recent', message: 'needs limit when it is above 0', allowed: null }]
    : [];

export const cronJobsRules: readonly Rule<CronJobsQuery>[] = [offsetNeedsLimit, recentNeedsLimit, exportsAreWhole];

export const cronJobQuery = { recent: whole({ min: 0, max: 90 }) };
