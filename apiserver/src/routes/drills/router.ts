import type { AcknowledgedDrill, Drill, DrillList } from '@cronjob-monitor/shared/contract';
import { toPlainLine } from '@cronjob-monitor/shared/domain';
import { acknowledgeDrill, listDrills, startDrill, type StoredDrill } from '@cronjob-monitor/shared/store';
import * as yup from 'yup';
import { peerOf } from '../../auth/authentication.ts';
import { conflict, notFound } from '../../errors.ts';
import { createCostlyCalls } from '../../middleware/costly.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { paging } from '../../middleware/parameters.ts';
import { readBody, readNoBody, readQuery } from '../../middleware/validate.ts';
import { isObjectId } from '../../object-name.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { authorOf } from '../author.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { text } from '../query.ts';
import { ackWithinMsOf, getChannel } from '../channels/known-channel.ts';

/** Wrong keys that one peer may try for one drill in a minute. */
const wrongKeysAMinute = 10;
/** Drills that are shown where the caller does not say. */
const usualDrills = 50;

const acknowledgeBody = yup.object({ key: text(100).required('is required'), by: text(100) });

/**
 * @openapi
 * /channels/{name}/drills:
 *   get:
 *     tags: [Channels]
 *     operationId: listDrills
 *     summary: Drills of a channel, the newest first
 *     x-ability: readChannels
 *     x-query: [limit, offset]
 *     x-answers: { 200: DrillList }
 *     x-refusals: [404]
 * /channels/{name}/drill:
 *   post:
 *     tags: [Channels]
 *     operationId: drillChannel
 *     summary: Sends a drill now; it is proved by a person who presses its link
 *     x-ability: testChannel
 *     x-answers: { 200: Drill }
 *     x-refusals: [404, 409, 429]
 * /drills/{id}/acknowledge:
 *   post:
 *     tags: [Channels]
 *     operationId: acknowledgeDrill
 *     summary: Proves that a channel is read; the key of the link is the right to it
 *     x-body: DrillAcknowledgement
 *     x-answers: { 200: AcknowledgedDrill }
 *     x-refusals: [404, 409, 429]
 */

/** Drills of channels: begun by hand, listed, and acknowledged by who reads them. */
export function drillsRouter(deps: RouteDeps): ApiRouter {
  const { guard, store, clock, settings } = deps;
  const wrongKeys = createCostlyCalls({ clock, perMinute: wrongKeysAMinute });
  return createRouter()
    .get('/channels/:name/drills', guard({ ability: 'readChannels' }), async (ctx) => {
      const query = readQuery(ctx, paging, offsetNeedsLimit);
      const { uid, name } = await getChannel(store, ctx.params);
      const page = pageOnWish(query);
      const { drills, total } = await listDrills(store, uid, page ?? { limit: usualDrills, offset: 0 });
      ctx.body = {
        items: drills.map((drill) => presentDrill(drill, name)),
        ...(page ? { pagination: toPagination(page, total) } : {}),
      } satisfies DrillList;
    })
    .post('/channels/:name/drill', guard({ ability: 'testChannel', costly: true }), async (ctx) => {
      readQuery(ctx, {});
      readNoBody(ctx);
      const channel = await getChannel(store, ctx.params);
      const asked = { channel, dueAt: store.now(), ackWithinMs: ackWithinMsOf(channel.spec), askedBy: authorOf(ctx) };
      const drill = await store.transaction((tx) => startDrill(tx, asked, settings));
      if (drill === undefined) throw conflict(`A drill of ${channel.name} has just begun`);
      ctx.body = presentDrill(drill, channel.name);
    })
    .post('/drills/:id/acknowledge', guard({}), async (ctx) => {
      readQuery(ctx, {});
      const { key, by } = readBody(ctx, acknowledgeBody);
      const { id = '' } = ctx.params;
      // A malformed id gets the answer of an unknown one: neither tells whether a drill exists.
      if (!isObjectId(id)) throw notFound('Drill', id, 'neverSeen');
      const giveBack = wrongKeys.take(`${peerOf(ctx.req)} ${id.toLowerCase()}`);
      const answer = await store.transaction((tx) => acknowledgeDrill(tx, { id, key, by: nameOf(by) }));
      if (answer.kind === 'unknown') throw notFound('Drill', id, 'neverSeen');
      giveBack();
      const { drill } = answer;
      if (answer.kind === 'over' || drill.ackedAt === undefined)
        throw conflict('The time of this drill is over: its channel stays unproved until the next one');
      ctx.body = {
        id: drill.id,
        ackedAt: toWireInstant(drill.ackedAt),
        ackedBy: orNull(drill.ackedBy),
      } satisfies AcknowledgedDrill;
    });
}

/** What a person writes about themselves is shown to others; a name of which nothing is seen is none. */
function nameOf(by: string | undefined): string | undefined {
  const name = toPlainLine(by ?? '').trim();
  return /[^\s\p{Cf}]/u.test(name) ? name : undefined;
}

function presentDrill(drill: StoredDrill, channel: string): Drill {
  return {
    id: drill.id,
    channel,
    deliveryId: drill.deliveryId,
    outcome: drill.outcome,
    dueAt: toWireInstant(drill.dueAt),
    sentAt: toWireInstantOrNull(drill.sentAt),
    ackByAt: toWireInstantOrNull(drill.ackByAt),
    ackedAt: toWireInstantOrNull(drill.ackedAt),
    ackedBy: orNull(drill.ackedBy),
    askedBy: orNull(drill.askedBy),
  };
}
