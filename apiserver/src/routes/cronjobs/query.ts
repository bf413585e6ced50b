import {
  cronJobIncludes,
  cronJobKinds,
  cronJobSortKeys,
  cronJobStatusFilters,
  healthStates,
  slaVerdicts,
} from '@cronjob-monitor/shared/contract';
import { flag, namespaces, oneMonitor, paging, refs, search, sort, whole, words } from '../../middleware/parameters.ts';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import type { Rule, Values } from '../../middleware/validate.ts';
import { exportFormat } from '../export/answer.ts';
import { tonightZone } from '../tonight/router.ts';

export const cronJobsQuery = {
  namespace: namespaces,
  refs: refs('These CronJobs alone: namespace/name.'),
  kind: words('CronJob unless it is given; Jobs: groups of Jobs that no CronJob controls.', cronJobKinds),
  status: words('Health; suspended and running are overlays.', cronJobStatusFilters),
  state: words('States of the verdict.', healthStates),
  search: search(),
  similar: flag(
    'With search: also names with letters missing, swapped or wrong, each word anywhere in namespace and name.',
  ),
  monitor: oneMonitor,
  sla: words('Verdicts on the success rate.', slaVerdicts),
  includeRemoved: flag('Also those that are gone and have history.'),
  recent: whole('So many recent runs of each; needs limit.', { min: 0, max: 30 }),
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

export const cronJobQuery = {
  recent: whole('So many recent runs.', { min: 0, max: 90 }),
  include: words(
    'Answers of other endpoints in this one: the newest 20 runs, the newest 20 expected runs of 30 days that no run answered, who hears now if it fails, the worst two findings, what may go wrong tonight, its targets.',
    cronJobIncludes,
  ),
  zone: tonightZone,
};
