import {
  deliveryKinds,
  deliveryStates,
  type ChannelDetail,
  type ChannelRendering,
  type DeliveryKind,
  type DeliveryPage,
  type DeliveryState,
} from '@cronjob-monitor/shared/contract';
import { getChannel, getRendering, listDeliveries } from '../../api/channels.ts';
import type { Hint } from '../../api/stream.ts';
import { router } from '../../router.svelte.ts';
import { countIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const deliveriesPerPage = 20;
/** At most so many are sent again at once. */
const mostAgain = 500;

/** One channel and what went through it. Filters and page of the deliveries are in the address. */
export class ChannelState {
  readonly name: string;
  readonly detail: Resource<ChannelDetail>;
  readonly rendering: Resource<ChannelRendering>;
  readonly states: readonly DeliveryState[] = $derived(wordsIn(router.query, 'state', deliveryStates));
  readonly kinds: readonly DeliveryKind[] = $derived(wordsIn(router.query, 'kind', deliveryKinds));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(this.states.length > 0 || this.kinds.length > 0);

  constructor(name: string) {
    this.name = name;
    this.detail = new Resource((signal) => getChannel(name, signal), {
      concerns: (hint) => concernsChannel(hint, name),
    });
    this.rendering = new Resource((signal) => getRendering(name, signal), {
      concerns: (hint) => concernsChannel(hint, name),
    });
  }

  readonly deliveries: Resource<DeliveryPage> = $derived.by(() => {
    const { name, states, kinds, offset } = this;
    const question = { channel: [name], state: states, kind: kinds, limit: deliveriesPerPage, offset };
    return new Resource((signal) => listDeliveries(question, signal), {
      concerns: (hint) => concernsChannel(hint, name),
    });
  });

  /** Ids of everything that can be sent again, oldest first. */
  async waitingIds(): Promise<string[]> {
    // A drill is in no count of what waits, and its link may be over.
    const kind = deliveryKinds.filter((one) => one !== 'drill');
    const answer = await listDeliveries({ channel: [this.name], state: ['parked', 'dead'], kind, limit: mostAgain });
    return answer.value.items.map(({ id }) => id).reverse();
  }

  change(changes: Readonly<Record<string, string | undefined>>): void {
    router.setQuery({ offset: undefined, ...changes });
  }
}

export function concernsChannel(hint: Hint, name: string): boolean {
  if (hint.kind === 'channel') return hint.data.name === name;
  return hint.kind === 'delivery' && hint.data.channel === name;
}
