import { executionSortKeys, executionStatuses, executionTriggers } from '@cronjob-monitor/shared/contract';
import { instant, name, paging, sort, words } from '../../middleware/parameters.ts';
import { exportFormat } from '../export/answer.ts';

export const executionsQuery = {
  status: words(executionStatuses),
  trigger: words(executionTriggers),
  since: instant(),
  until: instant(),
  sort: sort(executionSortKeys, { key: 'time', descending: true }),
  ...paging,
  format: exportFormat,
};

export const executionQuery = { uid: name() };

/** Runs of the last 30 x 24 h without `since`. */
export const defaultWindowMs = 30 * 86_400_000;
export const defaultLimit = 20;
