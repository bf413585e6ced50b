import {
  ChannelDetail,
  ChannelList,
  ChannelRendering,
  channelSortKeys,
  ChannelTestResult,
  channelTypes,
  type ChannelAnswer,
  type ChannelHour,
  type DeliveryErrorCategory,
  type Ref,
} from '@cronjob-monitor/shared/contract';
import {
  countAnswersByHour,
  countQueued,
  findNewestMessage,
  findProof,
  listChannelAnswers,
  listChannelStates,
  listDeliveries,
  listMonitors,
  listProofs,
  type CatalogChannelState,
  type Store,
} from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { authorOf } from '../author.ts';
import { presentDelivery } from '../deliveries/present.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { getChannel } from './known-channel.ts';
import { presentChannel, presentChannelDetail } from './present.ts';
import { exampleOutgoing, type Instant, hourMs } from '@cronjob-monitor/shared/domain';
import { orNull, toWireInstant } from '../../wire-values.ts';
import { channelRefsOf } from '../../monitor-spec.ts';
import { channelKeys } from '../clusters/orders.ts';
import { flag, orderBy, paging, sort, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import { callerOf, namespacesOf } from '../../middleware/guard.ts';

const channelsQuery = {
  type: words('Types.', channelTypes),
  ready: flag('Whether it can be used.'),
  sort: sort(channelSortKeys, { key: 'name', descending: false }),
  ...paging,
};
type ChannelsQuery = Values<typeof channelsQuery>;

/** Messages that the page of a channel shows at once. */
const shownDeliveries = 20;

/** Where messages go, with the figures of what went there, and a test of it. */
export const channelsRoutes = [
  route(
    {
      method: 'GET',
      path: '/channels',
      tag: 'Channels',
      id: 'listChannels',
      says: 'Where messages go',
      ability: 'readChannels',
      query: channelsQuery,
      rules: [offsetNeedsLimit],
      answer: ChannelList,
    },
    ({ deps, ctx, query }) => readChannelList(deps, ctx, query),
  ),
  route(
    {
      method: 'GET',
      path: '/channels/:name',
      tag: 'Channels',
      id: 'getChannel',
      says: 'One channel with its newest messages; never a value of a Secret',
      ability: 'readChannels',
      answer: ChannelDetail,
    },
    async ({ deps, ctx }) => {
      const { store } = deps;
      const channel = await getChannel(store, ctx.params);
      const readable = await namespacesOf(deps.authentication, ctx, 'read');
      const reader = { channelUid: channel.uid, namespaces: readable };
      const [queues, proof, routes, recent, hours, answers] = await Promise.all([
        countQueued(store),
        findProof(store, channel.uid),
        listRoutingMonitors(deps, ctx),
        listDeliveries(
          store,
          { channelUid: channel.uid, namespaces: readable },
          { sort: { key: 'createdAt', descending: true }, page: { limit: shownDeliveries, offset: 0 } },
        ),
        readHours(store, reader, store.now()),
        readAnswers(store, reader),
      ]);
      const facts = { channel, proof, queue: queues.get(channel.uid), monitors: routes.get(channel.name) ?? [] };
      return presentChannelDetail(
        facts,
        { recentDeliveries: recent.map(presentDelivery), hours, answers },
        store.now(),
      );
    },
  ),
  route(
    {
      method: 'GET',
      path: '/channels/:name/rendered',
      tag: 'Channels',
      id: 'getChannelRendering',
      says: 'The newest message and an example, as the channel sends them',
      ability: 'readChannels',
      answer: ChannelRendering,
    },
    async ({ deps, ctx }) => {
      const { store } = deps;
      const channel = await getChannel(store, ctx.params);
      return readRendering(deps, channel, await namespacesOf(deps.authentication, ctx, 'read'));
    },
  ),
  route(
    {
      method: 'POST',
      path: '/channels/:name/test',
      tag: 'Channels',
      id: 'testChannel',
      says: 'Sends a test through the controller and waits for its outcome, 15 s at most',
      ability: 'testChannel',
      elsewhere: true,
      costly: true,
      answer: ChannelTestResult,
    },
    async ({ deps: { store, actions }, ctx }) => {
      const { uid, name } = await getChannel(store, ctx.params);
      return actions.testChannel({ channel: { uid, name }, by: authorOf(ctx) });
    },
  ),
];

const example = {
  monitor: { namespace: 'example', name: 'backups' },
  cronJob: { namespace: 'example', name: 'nightly' },
};

/** The newest message that the caller may see and an example, as the channel sends them. */
async function readRendering(
  { store, actions, settings: { clusterName: cluster, externalUrl } }: RouteDeps,
  { uid: channelUid, spec }: CatalogChannelState,
  namespaces: readonly string[],
): Promise<ChannelRendering> {
  const newest = await findNewestMessage(store, { channelUid, namespaces });
  const { deliveryId = '', streamId = '', createdAt = 0 } = newest ?? {};
  const made = exampleOutgoing({
    ...example,
    cluster,
    externalUrl,
    type: 'jobFailed',
    severity: 'warning',
    at: store.now(),
  });
  const [shown = null, ofNewest = null] = await actions.renderMessages(spec, [
    made,
    ...(newest ? [{ ...newest.payload, deliveryId, streamId, createdAt, source: made.source }] : []),
  ]);
  return {
    newest: newest && ofNewest ? { ...ofNewest, deliveryId, createdAt: toWireInstant(createdAt) } : null,
    example: shown,
  };
}

const shownHours = 24;
const shownAnswers = 20;

/** The last 24 hours, the one that runs included, each with what was answered in it. */
async function readHours(
  store: Store,
  reader: Parameters<typeof countAnswersByHour>[1],
  now: Instant,
): Promise<readonly ChannelHour[]> {
  const firstAt = now - (now % hourMs) - (shownHours - 1) * hourMs;
  const counted = await countAnswersByHour(store, reader, firstAt);
  return Array.from({ length: shownHours }, (_, index) => {
    const fromAt = firstAt + index * hourMs;
    return { from: toWireInstant(fromAt), sent: 0, failed: 0, ...counted.get(fromAt) };
  });
}

/** The newest answers of its receiver. */
async function readAnswers(
  store: Store,
  reader: Parameters<typeof listChannelAnswers>[1],
): Promise<readonly ChannelAnswer[]> {
  const lines = await listChannelAnswers(store, reader, shownAnswers);
  return lines.map((line) => ({
    at: toWireInstant(line.at),
    verdict: line.isAccepted ? 'accepted' : 'failed',
    category: orNull(line.category as DeliveryErrorCategory | undefined), // as it was settled
    httpStatus: orNull(line.httpStatus),
    ms: orNull(line.tookMs),
    times: line.times,
    kind: orNull(line.kind),
    alertId: orNull(line.alertId),
    cronjob: orNull(line.cronJob),
  }));
}

/** There are hundreds of channels at most: they are filtered and ordered here. */
async function readChannelList(deps: RouteDeps, ctx: ApiContext, query: ChannelsQuery): Promise<ChannelList> {
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
async function listRoutingMonitors(
  { store, authentication }: RouteDeps,
  ctx: ApiContext,
): Promise<ReadonlyMap<string, readonly Ref[]>> {
  const reach = await authentication.reach(callerOf(ctx), 'readMonitors', []);
  const routes = new Map<string, Ref[]>();
  for (const { namespace, name, spec } of await listMonitors(store)) {
    if (!reach.includes(namespace)) continue;
    for (const channel of new Set(channelRefsOf(spec).map((ref) => ref.name))) {
      routes.set(channel, [...(routes.get(channel) ?? []), { namespace, name }]);
    }
  }
  return routes;
}
