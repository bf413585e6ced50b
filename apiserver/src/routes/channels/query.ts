import { channelSortKeys, channelTypes } from '@cronjob-monitor/shared/contract';
import { flag, paging, sort, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';

export const channelsQuery = {
  type: words('Types.', channelTypes),
  ready: flag('Whether it can be used.'),
  sort: sort(channelSortKeys, { key: 'name', descending: false }),
  ...paging,
};
export type ChannelsQuery = Values<typeof channelsQuery>;
