import { countQueued, findProof, listDeliveries } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { offsetNeedsLimit } from '../../middleware/pagination.ts';
import { readNoBody, readQuery } from '../../middleware/validate.ts';
import { authorOf } from '../author.ts';
import { presentDelivery } from '../deliveries/present.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { getChannel } from './known-channel.ts';
import { listRoutingMonitors, readChannelList } from './list.ts';
import { readAnswers, readHours } from './answers.ts';
import { presentChannelDetail } from './present.ts';
import { channelsQuery } from './query.ts';
import { readRendering } from './rendering.ts';

/** Messages that the page of a channel shows at once. */
const shownDeliveries = 20;

/**
 * @openapi
 * /channels:
 *   get:
 *     tags: [Channels]
 *     operationId: listChannels
 *     summary: Where messages go
 *     x-ability: readChannels
 *     x-query: [channelTypes, ready, channelSort, limit, offset]
 *     x-answers: { 200: ChannelList }
 * /channels/{name}:
 *   get:
 *     tags: [Channels]
 *     operationId: getChannel
 *     summary: One channel with its newest messages; never a value of a Secret
 *     x-ability: readChannels
 *     x-answers: { 200: ChannelDetail }
 *     x-refusals: [404]
 * /channels/{name}/rendered:
 *   get:
 *     tags: [Channels]
 *     operationId: getChannelRendering
 *     summary: The newest message and an example, as the channel sends them
 *     x-ability: readChannels
 *     x-answers: { 200: ChannelRendering }
 *     x-refusals: [404]
 * /channels/{name}/test:
 *   post:
 *     tags: [Channels]
 *     operationId: testChannel
 *     summary: Sends a test through the controller and waits for its outcome, 15 s at most
 *     x-ability: testChannel
 *     x-answers: { 200: ChannelTestResult }
 *     x-refusals: [404, 429]
 */

/** Where messages go, with the figures of what went there, and a test of it. */
export function channelsRouter(deps: RouteDeps): ApiRouter {
  const { guard, store, actions } = deps;
  return createRouter()
    .get('/channels', guard({ ability: 'readChannels' }), async (ctx) => {
      ctx.body = await readChannelList(deps, ctx, readQuery(ctx, channelsQuery, offsetNeedsLimit));
    })
    .get('/channels/:name', guard({ ability: 'readChannels' }), async (ctx) => {
      readQuery(ctx, {});
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
      ctx.body = presentChannelDetail(
        facts,
        { recentDeliveries: recent.map(presentDelivery), hours, answers },
        store.now(),
      );
    })
    .get('/channels/:name/rendered', guard({ ability: 'readChannels' }), async (ctx) => {
      readQuery(ctx, {});
      const channel = await getChannel(store, ctx.params);
      ctx.body = await readRendering(deps, channel, await readableNamespaces(deps, ctx));
    })
    .post('/channels/:name/test', guard({ ability: 'testChannel', costly: true }), async (ctx) => {
      readQuery(ctx, {});
      readNoBody(ctx);
      const { uid, name } = await getChannel(store, ctx.params);
      ctx.body = await actions.testChannel({ channel: { uid, name }, by: authorOf(ctx) });
    });
}

/** What was told of namespaces that the caller may not read is left out, as in the list of deliveries. */
async function readableNamespaces({ authentication }: RouteDeps, { state: { caller } }: ApiContext) {
  if (!caller) throw internalError(new Error('the request has no caller'));
  return (await authentication.reach(caller, 'read', [])).within([]);
}
