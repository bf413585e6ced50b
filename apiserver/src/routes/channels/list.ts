import type { ChannelList, Ref } from '@cronjob-monitor/shared/contract';
import { countQueued, listChannelStates, listMonitors, listProofs } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { channelRefsOf } from '../../monitor-spec.ts';
import { channelKeys } from '../clusters/orders.ts';
import type { RouteDeps } from '../deps.ts';
import { orderBy } from '../../middleware/parameters.ts';
import { presentChannel } from './present.ts';
import type { ChannelsQuery } from './query.ts';

/** There are hundreds of channels at most: they are filtered and ordered here. */
export async function readChannelList(deps: RouteDeps, ctx: ApiContext, query: ChannelsQuery): Promise<ChannelList> {
  const { store } = deps;
  const [channels, proofs, queues, routes] = await Promise.all([
    listChannelStates(store),
    listProofs(store),
    countQueued(store),
    listRoutingMonitors(deps, ctx),
  ]);
  const items = channels
    .filter(
      ({ type, ready }) =>
        (query.type.length === 0 || query.type.includes(type)) && (query.ready === undefined || query.ready === ready),
    )
    .map((channel) =>
      presentChannel({
        channel,
        proof: proofs.get(channel.uid),
        queue: queues.get(channel.uid),
        monitors: routes.get(channel.name) ?? [],
      }),
    )
    .sort(orderBy(channelKeys, query.sort, ({ name }) => [name]));
  const ready = items.filter((item) => item.ready).length;
  const page = pageOnWish(query);
  return {
    items: page ? items.slice(page.offset, page.offset + page.limit) : items,
    summary: { total: items.length, ready, notReady: items.length - ready },
    ...(page ? { pagination: toPagination(page, items.length) } : {}),
  };
}

/** The monitors that route to each channel, by its name: those that the caller may list. */
export async function listRoutingMonitors(
  { store, authentication }: RouteDeps,
  { state: { caller } }: ApiContext,
): Promise<ReadonlyMap<string, readonly Ref[]>> {
  if (!caller) throw internalError(new Error('the request has no caller'));
  const reach = await authentication.reach(caller, 'readMonitors', []);
  const routes = new Map<string, Ref[]>();
  for (const { namespace, name, spec } of await listMonitors(store)) {
    if (!reach.includes(namespace)) continue;
    for (const channel of new Set(channelRefsOf(spec).map((ref) => ref.name))) {
      routes.set(channel, [...(routes.get(channel) ?? []), { namespace, name }]);
    }
  }
  return routes;
}
