import { deliveryKinds, deliverySortKeys, deliveryStates } from '@cronjob-monitor/shared/contract';
import { instant, name, names, paging, sort, words } from '../../middleware/parameters.ts';

export const deliveriesQuery = {
  channel: names(),
  state: words(deliveryStates),
  kind: words(deliveryKinds),
  namespace: names(),
  alert: name(),
  since: instant(),
  until: instant(),
  sort: sort(deliverySortKeys, { key: 'createdAt', descending: true }),
  ...paging,
};

export const defaultLimit = 50;
