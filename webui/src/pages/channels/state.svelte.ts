import { channelSortKeys, channelTypes, type ChannelList, type ChannelType } from '@cronjob-monitor/shared/contract';
import { listChannels } from '../../api/channels.ts';
import { router } from '../../router.svelte.ts';
import { wordIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const readiness = ['all', 'notReady', 'ready'] as const;
export type Readiness = (typeof readiness)[number];
const sorts = channelSortKeys.flatMap((key) => [key, `-${key}`] as const);

/** Where messages go: not ready first. Filters and order are in the address. */
export class ChannelsState {
  readonly types: readonly ChannelType[] = $derived(wordsIn(router.query, 'type', channelTypes));
  readonly readiness: Readiness = $derived(wordIn(router.query, 'ready', readiness, 'all'));
  readonly sort = $derived(wordIn(router.query, 'sort', sorts, 'ready'));
  readonly isFiltered: boolean = $derived(this.types.length > 0 || this.readiness !== 'all');

  readonly list: Resource<ChannelList> = $derived.by(() => {
    const { types, readiness: wanted, sort } = this;
    const question = { type: types, sort, ...(wanted === 'all' ? {} : { ready: wanted === 'ready' }) };
    return new Resource((signal) => listChannels(question, signal), {
      concerns: ({ kind }) => kind === 'channel' || kind === 'delivery',
    });
  });
}
