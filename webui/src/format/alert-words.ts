import type { AlertType } from '@cronjob-monitor/shared/contract';

/** Types of alerts as words, to stand before `alert`; their codes stay in addresses, filters and manifests. */
export const alertTypeWords: Readonly<Record<AlertType, string>> = {
  jobFailed: 'failed run',
  missedSchedule: 'missed run',
  deadManTriggered: "dead-man's switch",
  slaBreached: 'missed target',
  durationRegression: 'slower runs',
  jobSuspended: 'suspended CronJob',
  jobStuck: 'stuck run',
  absent: 'absence',
};
