import { findDelivery, updateRedriven, type Store } from '@cronjob-monitor/shared/store';
import { ApiError, notFound } from '../errors.ts';

/** Sends a message again that was given up or is parked. `changed` false: it waits or is being sent already. */
export async function redrive(store: Store, id: string, by: string): Promise<{ readonly changed: boolean }> {
  if (await store.transaction((tx) => updateRedriven(tx, id, by))) return { changed: true };
  const delivery = await findDelivery(store, id);
  if (!delivery) throw notFound('Delivery', id, 'neverSeen');
  const { state } = delivery;
  if (state === 'ready' || state === 'claimed') return { changed: false };
  const isLeft = state === 'dead' || state === 'parked';
  const lacks = delivery.kind === 'drill' ? 'its drill is over' : 'what it said is no longer kept';
  const why = isLeft ? lacks : `it is ${state}`;
  throw new ApiError('NOT_REDRIVABLE', `The delivery cannot be sent again: ${why}`, { details: { state } });
}
