import { ChannelList, ChannelDetail, ChannelRendering, ChannelTestResult } from '@cronjob-monitor/shared/contract';
import { countQueued, findProof, listDeliveries } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { offsetNeedsLimit } from '../../middleware/pagination.ts';
import { authorOf } from '../author.ts';
import { presentDelivery } from '../deliveries/present.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { getChannel } from './known-channel.ts';
import { listRoutingMonitors, readChannelList } from './list.ts';
import { readAnswers, readHours } from './answers.ts';
import { presentChannelDetail } from './present.ts';
import { channelsQuery } from './query.ts';
import { readRendering } from './rendering.ts';

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
      const readable = await readableNamespaces(deps, ctx);
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
      return readRendering(deps, channel, await readableNamespaces(deps, ctx));
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

/** What was told of namespaces that the caller may not read is left out, as in the list of deliveries. */
async function readableNamespaces({ authentication }: RouteDeps, { state: { caller } }: ApiContext) {
  if (!caller) throw internalError(new Error('the request has no caller'));
  return (await authentication.reach(caller, 'read', [])).within([]);
}
