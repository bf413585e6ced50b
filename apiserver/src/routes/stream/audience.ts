import type { NumberedChange } from '@cronjob-monitor/shared/store';
import type { Authentication } from '../../auth/authentication.ts';
import type { ApiContext } from '../../context.ts';
import { readQuery } from '../../middleware/validate.ts';
import { streamQuery } from './query.ts';

/** What one reader of the stream may hear of. */
export interface Audience {
  /** Those asked for that the caller may read; empty = all. */
  readonly namespaces: readonly string[];
  readonly hearsOfMonitors: (namespace: string) => boolean;
  readonly hearsOfChannels: boolean;
}

/** Asks what the caller of a request may hear of now. Throws REVIEW_UNAVAILABLE. */
export async function readAudience(authentication: Authentication, ctx: ApiContext): Promise<Audience> {
  const { namespace: namespaces } = readQuery(ctx, streamQuery);
  const { caller } = ctx.state;
  if (!caller) return { namespaces, hearsOfMonitors: () => false, hearsOfChannels: false };
  const [monitors, hearsOfChannels] = await Promise.all([
    authentication.reach(caller, 'readMonitors', namespaces),
    authentication.may(caller, 'readChannels', {}),
  ]);
  return { namespaces, hearsOfMonitors: (namespace) => monitors.includes(namespace), hearsOfChannels };
}

/** What belongs to no namespace is told to everybody, but for what names a channel. */
export function isTold({ kind, namespace }: NumberedChange, audience: Audience): boolean {
  if (namespace === undefined) return audience.hearsOfChannels || (kind !== 'channel' && kind !== 'delivery');
  if (audience.namespaces.length > 0 && !audience.namespaces.includes(namespace)) return false;
  return kind !== 'monitor' || audience.hearsOfMonitors(namespace);
}
