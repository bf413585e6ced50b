import { slaSortKeys, slaSubjects, slaTargetVerdicts } from '@cronjob-monitor/shared/contract';
import { names, paging, ref, search, sort, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import { exportFormat } from '../export/answer.ts';

export const slaQuery = {
  namespace: names(),
  monitor: ref(),
  search: search(),
  subject: words(slaSubjects),
  verdict: words(slaTargetVerdicts),
  sort: sort(slaSortKeys, { key: 'verdict', descending: false }),
  ...paging,
  format: exportFormat,
};
export type SlaQuery = Values<typeof slaQuery>;
