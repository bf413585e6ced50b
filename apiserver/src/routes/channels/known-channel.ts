import { parseDuration, usualAckWithin, isObject } from '@cronjob-monitor/shared/domain';
import { findChannel, type CatalogChannelState, type Store } from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import { isObjectName } from '../../object-name.ts';

/** The channel of the path. Throws NOT_FOUND. */
export async function getChannel(
  store: Store,
  { name = '' }: Readonly<Record<string, string>>,
): Promise<CatalogChannelState> {
  if (!isObjectName(name)) throw notFound('AlertChannel', name, 'neverSeen');
  const { channel, wasDeleted } = await findChannel(store, name);
  if (!channel) throw notFound('AlertChannel', name, wasDeleted ? 'deleted' : 'neverSeen');
  return channel;
}

/** How long the link of a drill is valid, by the spec as it was applied. */
export function ackWithinMsOf(spec: unknown): number {
  const drill = isObject(spec) && isObject(spec['drill']) ? spec['drill'] : {};
  const written = typeof drill['ackWithin'] === 'string' ? parseDuration(drill['ackWithin']) : undefined;
  return written ?? parseDuration(usualAckWithin) ?? 0;
}
