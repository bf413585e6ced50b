import type { IncomingMessage } from 'node:http';
import type { Ability, AuthMode } from '@cronjob-monitor/shared/contract';
import type { Identity } from '@cronjob-monitor/shared/kube';
import type { Place } from './permission.ts';
import type { Reach } from './reach.ts';

/** Who calls, as far as it is known. */
export interface Caller {
  readonly mode: AuthMode;
  /** Undefined in mode none, and without a token. */
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined;
  /** As access reviews name them; undefined where `user` is. */
  readonly identity?: Identity | undefined;
  /** Address of the other end of the socket. */
  readonly peer: string;
}

/**
 * How callers are known and what they may do: one implementation for each `auth.mode`. Every member throws REVIEW_UNAVAILABLE
 * when that cannot be found out.
 */
export interface Authentication {
  readonly mode: AuthMode;
  /** Throws UNAUTHENTICATED when the mode asks for an identity and the request has none. */
  authenticate(request: IncomingMessage): Promise<Caller>;
  /** Whether the ability can be granted in one namespace and not in another. Always false where callers are not asked. */
  isNamespaced(ability: Ability): boolean;
  /** Throws FORBIDDEN, naming the missing verb, when the caller may not. */
  permit(caller: Caller, ability: Ability, place: Place): Promise<void>;
  may(caller: Caller, ability: Ability, place: Place): Promise<boolean>;
  /** Where the caller has an ability that is granted by namespace, among those asked for; none asked for: among all known ones. */
  reach(caller: Caller, ability: Ability, asked: readonly string[]): Promise<Reach>;
  /** Whether all that another cluster tells may be read: the right to `get` it, as `clusters.cronjob-monitor.io`, in this one. */
  mayReadCluster(caller: Caller, name: string): Promise<boolean>;
  /** What whoami tells; a request without identity is no error there. `namespace` absent: in any namespace. */
  abilitiesOf(
    request: IncomingMessage,
    namespace: string | undefined,
  ): Promise<{ readonly caller: Caller; readonly may: (ability: Ability) => boolean }>;
}

export function peerOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? 'unknown';
}
