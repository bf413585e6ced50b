import { slotOutcomes, slotSortKeys } from '@cronjob-monitor/shared/contract';
import { instant, paging, sort, words } from '../../middleware/parameters.ts';
import { exportFormat } from '../export/answer.ts';

export const slotsQuery = {
  since: instant(),
  until: instant(),
  outcome: words(slotOutcomes),
  sort: sort(slotSortKeys, { key: 'scheduledFor', descending: true }),
  ...paging,
  format: exportFormat,
};

export const defaultWindowMs = 7 * 86_400_000;
export const defaultLimit = 100;
