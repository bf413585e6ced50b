import {
  alertHistorySortKeys,
  alertSortKeys,
  alertTypes,
  closedAlertStates,
  failureCauses,
  openAlertStates,
  severities,
} from '@cronjob-monitor/shared/contract';
import { flag, instant, names, paging, ref, sort, words } from '../../middleware/parameters.ts';
import { exportFormat } from '../export/answer.ts';

const about = {
  severity: words(severities),
  type: words(alertTypes),
  cause: words(failureCauses),
  namespace: names(),
  cronjob: names(),
  monitor: ref(),
};

export const alertsQuery = {
  ...about,
  state: words(openAlertStates),
  acknowledged: flag(),
  sort: sort(alertSortKeys, { key: 'severity', descending: false }),
  ...paging,
  format: exportFormat,
};

export const historyQuery = {
  ...about,
  state: words(closedAlertStates),
  since: instant(),
  until: instant(),
  sort: sort(alertHistorySortKeys, { key: 'endedAt', descending: true }),
  ...paging,
  format: exportFormat,
};

export const defaultHistoryLimit = 50;
