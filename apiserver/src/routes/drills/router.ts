import { AcknowledgedDrill, Drill, DrillList, DrillAcknowledgement } from '@cronjob-monitor/shared/contract';
import { toPlainLine } from '@cronjob-monitor/shared/domain';
import { acknowledgeDrill, listDrills, startDrill, type StoredDrill } from '@cronjob-monitor/shared/store';
import { peerOf } from '../../auth/authentication.ts';
import { conflict, notFound } from '../../errors.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { paging } from '../../middleware/parameters.ts';
import { isObjectId } from '../../object-name.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { authorOf } from '../author.ts';
import { route } from '../route.ts';
import { ackWithinMsOf, getChannel } from '../channels/known-channel.ts';

/** Drills that are shown where the caller does not say. */
const usualDrills = 50;

/** Drills of channels: a caller begins and lists them, and the reader of the message acknowledges them. */
export const drillsRoutes = [
  route(
    {
      method: 'GET',
      path: '/channels/:name/drills',
      tag: 'Channels',
      id: 'listDrills',
      says: 'Drills of a channel, the newest first',
      ability: 'readChannels',
      query: paging,
      rules: [offsetNeedsLimit],
      answer: DrillList,
    },
    async ({ deps: { store }, ctx, query }) => {
      const { uid, name } = await getChannel(store, ctx.params);
      const page = pageOnWish(query);
      const { drills, total } = await listDrills(store, uid, page ?? { limit: usualDrills, offset: 0 });
      return {
        items: drills.map((drill) => presentDrill(drill, name)),
        ...(page ? { pagination: toPagination(page, total) } : {}),
      };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/channels/:name/drill',
      tag: 'Channels',
      id: 'drillChannel',
      says: 'Sends a drill now; it is proved by a person who presses its link',
      ability: 'testChannel',
      elsewhere: true,
      costly: true,
      answer: Drill,
      refusals: [409],
    },
    async ({ deps: { store, settings }, ctx }) => {
      const channel = await getChannel(store, ctx.params);
      const asked = { channel, dueAt: store.now(), ackWithinMs: ackWithinMsOf(channel.spec), askedBy: authorOf(ctx) };
      const drill = await store.transaction((tx) => startDrill(tx, asked, settings));
      if (drill === undefined) throw conflict(`A drill of ${channel.name} has just begun`);
      return presentDrill(drill, channel.name);
    },
  ),
  route(
    {
      method: 'POST',
      path: '/drills/:id/acknowledge',
      tag: 'Channels',
      id: 'acknowledgeDrill',
      says: 'Proves that a channel is read; the key of the link is the right to it',
      body: DrillAcknowledgement,
      answer: AcknowledgedDrill,
      refusals: [409, 429],
    },
    async ({ deps: { store, wrongDrillKeys }, ctx, body: { key, by } }) => {
      const { id = '' } = ctx.params;
      // A malformed id gets the answer of an unknown one: neither tells whether a drill exists.
      if (!isObjectId(id)) throw notFound('Drill', id, 'neverSeen');
      const giveBack = wrongDrillKeys.take(`${peerOf(ctx.req)} ${id.toLowerCase()}`);
      const answer = await store.transaction((tx) => acknowledgeDrill(tx, { id, key, by: nameOf(by) }));
      if (answer.kind === 'unknown') throw notFound('Drill', id, 'neverSeen');
      giveBack();
      const { drill } = answer;
      if (answer.kind === 'over' || drill.ackedAt === undefined)
        throw conflict('The time of this drill is over: its channel stays unproved until the next one');
      return {
        id: drill.id,
        ackedAt: toWireInstant(drill.ackedAt),
        ackedBy: orNull(drill.ackedBy),
      };
    },
  ),
];

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
