import {
  cronJobKinds,
  cronJobSortKeys,
  cronJobStatusFilters,
  healthStates,
  slaVerdicts,
} from '@cronjob-monitor/shared/contract';
import { flag, namespaces, oneMonitor, paging, refs, search, sort, whole, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import { exportFormat } from '../export/answer.ts';

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
