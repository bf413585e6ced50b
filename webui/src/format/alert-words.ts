import { alertTypes, alertTypeTable, type AlertType } from '@cronjob-monitor/shared/contract';

/** Types of alerts as words, to stand before `alert`. */
export const alertTypeWords = Object.fromEntries(
  alertTypes.map((type) => [type, alertTypeTable[type].words]),
) as Readonly<Record<AlertType, string>>; // made of all types
