import {
  type DeliveryPage,
  type RedriveResult,
  deliveryKinds,
  deliverySortKeys,
  deliveryStates,
} from '@cronjob-monitor/shared/contract';
import { countDeliveries, findDelivery, listDeliveries, type DeliveryFilter } from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import { pageOf, toPagination } from '../../middleware/pagination.ts';
import { readNoBody, readQuery } from '../../middleware/validate.ts';
import { isObjectId } from '../../object-name.ts';
import { readWindow } from '../../windows.ts';
import { authorOf } from '../author.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { presentDelivery } from './present.ts';
import { instant, name, names, namespaces, paging, sort, words } from '../../middleware/parameters.ts';

const deliveriesQuery = {
  channel: names('Names of channels.'),
  state: words('States.', deliveryStates),
  kind: words('Kinds.', deliveryKinds),
  namespace: namespaces,
  alert: name('Id of an alert.'),
  since: instant('Inclusive; by its creation.'),
  until: instant('Exclusive; by its creation.'),
  sort: sort(deliverySortKeys, { key: 'createdAt', descending: true }),
  ...paging,
};

const defaultLimit = 50;

/**
 * @openapi
 * /deliveries:
 *   get:
 *     tags: [Channels]
 *     operationId: listDeliveries
 *     summary: Messages and what became of each
 *     x-ability: read
 *     x-query: [channels, deliveryStates, deliveryKinds, namespaces, alertId, createdSince, createdUntil, deliverySort, limit, offset]
 *     x-answers: { 200: DeliveryPage }
 * /deliveries/{id}/redrive:
 *   post:
 *     tags: [Channels]
 *     operationId: redriveDelivery
 *     summary: Sends a dead or parked message again
 *     x-ability: redrive
 *     x-answers: { 200: RedriveResult }
 *     x-refusals: [404, 409]
 */

/** What was to be told to whom, and the second try of what was given up. */
export function deliveriesRouter({ guard, store, actions }: RouteDeps): ApiRouter {
  return createRouter()
    .get('/deliveries', guard({ ability: 'read' }), async (ctx) => {
      const { channel, state, kind, namespace, alert, since, until, sort, ...asked } = readQuery(ctx, deliveriesQuery);
      if (since !== undefined) readWindow({ since, until }, { since });
      const filter: DeliveryFilter = {
        channels: channel,
        states: state,
        kinds: kind,
        namespaces: namespace,
        alertId: alert,
        since,
        until,
      };
      const page = pageOf(asked, defaultLimit);
      // An id that none can have is no question for the database.
      const isKnownForm = alert === undefined || isObjectId(alert);
      const [total, items] = isKnownForm
        ? await Promise.all([countDeliveries(store, filter), listDeliveries(store, filter, { sort, page })])
        : [0, []];
      const body: DeliveryPage = { items: items.map(presentDelivery), pagination: toPagination(page, total) };
      ctx.body = body;
    })
    .post('/deliveries/:id/redrive', guard({ ability: 'redrive' }), async (ctx) => {
      readQuery(ctx, {});
      readNoBody(ctx);
      const { id = '' } = ctx.params;
      if (!isObjectId(id)) throw notFound('Delivery', id, 'neverSeen');
      const { changed } = await actions.redrive(id, authorOf(ctx));
      const delivery = await findDelivery(store, id);
      if (!delivery) throw notFound('Delivery', id, 'expired');
      const body: RedriveResult = {
        success: true,
        message: changed ? 'Queued again' : 'It is waiting already',
        changed,
        delivery: presentDelivery(delivery),
      };
      ctx.body = body;
    });
}
