import {
  alertHistorySortKeys,
  alertSortKeys,
  alertTypes,
  closedAlertStates,
  failureCauses,
  openAlertStates,
  severities,
} from '@cronjob-monitor/shared/contract';
import {
  flag,
  instant,
  names,
  namespaces,
  objectIds,
  oneMonitor,
  paging,
  sort,
  words,
} from '../../middleware/parameters.ts';
import { exportFormat } from '../export/answer.ts';

const about = {
  id: objectIds('Ids of alerts.'),
  severity: words('Severities.', severities),
  type: words('Types.', alertTypes),
  cause: words('On whose side it is.', failureCauses),
  namespace: namespaces,
  cronjob: names('Names of CronJobs.'),
  monitor: oneMonitor,
};

export const alertsQuery = {
  ...about,
  state: words('States; active without it.', openAlertStates),
  acknowledged: flag('Whether a person has acknowledged it.'),
  sort: sort(alertSortKeys, { key: 'severity', descending: false }, 'severity, then the oldest'),
  ...paging,
  format: exportFormat,
};

export const historyQuery = {
  ...about,
  state: words('States; resolved and expired without it.', closedAlertStates),
  since: instant('Inclusive; by the end of the alert.'),
  until: instant('Exclusive; by the end of the alert.'),
  sort: sort(alertHistorySortKeys, { key: 'endedAt', descending: true }),
  ...paging,
  format: exportFormat,
};

export const defaultHistoryLimit = 50;
