import type { NumberedChange } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { readQuery } from '../../middleware/validate.ts';
import type { RouteDeps } from '../deps.ts';
import { mayReadSilenceOf } from '../silence-places.ts';
import { streamQuery } from './query.ts';

/** What one reader of the stream may hear of. */
export interface Audience {
  /** Those asked for that the caller may read; empty = all. */
  readonly namespaces: readonly string[];
  readonly hearsOfMonitors: (namespace: string) => boolean;
  readonly hearsOfChannels: boolean;
  /** Whether a silence of this id may be read; undefined: each may. */
  readonly hearsOfSilence: ((id: string) => Promise<boolean>) | undefined;
}

/** Asks what the caller of a request may hear of now. Throws REVIEW_UNAVAILABLE. */
export async function readAudience(deps: RouteDeps, ctx: ApiContext): Promise<Audience> {
  const { authentication } = deps;
  const { namespace: namespaces } = readQuery(ctx, streamQuery);
  const { caller } = ctx.state;
  if (!caller) {
    const hearsOfSilence = (): Promise<boolean> => Promise.resolve(false);
    return { namespaces, hearsOfMonitors: () => false, hearsOfChannels: false, hearsOfSilence };
  }
  const [monitors, hearsOfChannels, readsAll] = await Promise.all([
    authentication.reach(caller, 'readMonitors', namespaces),
    authentication.may(caller, 'readChannels', {}),
    authentication.may(caller, 'read', {}),
  ]);
  return {
    namespaces,
    hearsOfMonitors: (namespace) => monitors.includes(namespace),
    hearsOfChannels,
    hearsOfSilence: readsAll ? undefined : (id) => mayReadSilenceOf(deps, caller, id),
  };
}

/** What belongs to no namespace is told to everybody, but for what names a channel, and for a silence that may not be read. */
export async function isTold({ kind, namespace, data }: NumberedChange, audience: Audience): Promise<boolean> {
  if (kind === 'silence' && audience.hearsOfSilence) {
    const { id } = data as { readonly id?: unknown };
    return typeof id === 'string' && (await audience.hearsOfSilence(id));
  }
  if (namespace === undefined) return audience.hearsOfChannels || (kind !== 'channel' && kind !== 'delivery');
  if (audience.namespaces.length > 0 && !audience.namespaces.includes(namespace)) return false;
  return kind !== 'monitor' || audience.hearsOfMonitors(namespace);
}
