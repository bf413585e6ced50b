import {
  DeliveryPage,
  RedriveResult,
  deliveryKinds,
  deliverySortKeys,
  deliveryStates,
} from '@cronjob-monitor/shared/contract';
import { countDeliveries, findDelivery, listDeliveries, type DeliveryFilter } from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import { pageOf, toPagination, usualPageSize } from '../../middleware/pagination.ts';
import { isObjectId } from '../../object-name.ts';
import { readWindow } from '../../windows.ts';
import { authorOf } from '../author.ts';
import { route } from '../route.ts';
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

/** What was to be told to whom, and the second try of what was given up. */
export const deliveriesRoutes = [
  route(
    {
      method: 'GET',
      path: '/deliveries',
      tag: 'Channels',
      id: 'listDeliveries',
      says: 'Messages and what became of each',
      ability: 'read',
      query: deliveriesQuery,
      answer: DeliveryPage,
    },
    async ({ deps: { store }, query: { channel, state, kind, namespace, alert, since, until, sort, ...asked } }) => {
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
      const page = pageOf(asked, usualPageSize);
      // An id that none can have is no question for the database.
      const isKnownForm = alert === undefined || isObjectId(alert);
      const [total, items] = isKnownForm
        ? await Promise.all([countDeliveries(store, filter), listDeliveries(store, filter, { sort, page })])
        : [0, []];
      return { items: items.map(presentDelivery), pagination: toPagination(page, total) };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/deliveries/:id/redrive',
      tag: 'Channels',
      id: 'redriveDelivery',
      says: 'Sends a dead or parked message again',
      ability: 'redrive',
      elsewhere: true,
      answer: RedriveResult,
      refusals: [409],
    },
    async ({ deps: { store, actions }, ctx }) => {
      const { id = '' } = ctx.params;
      if (!isObjectId(id)) throw notFound('Delivery', id, 'neverSeen');
      const { changed } = await actions.redrive(id, authorOf(ctx));
      const delivery = await findDelivery(store, id);
      if (!delivery) throw notFound('Delivery', id, 'expired');
      return {
        success: true,
        message: changed ? 'Queued again' : 'It is waiting already',
        changed,
        delivery: presentDelivery(delivery),
      };
    },
  ),
];
