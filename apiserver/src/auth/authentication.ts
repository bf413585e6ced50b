import type { IncomingMessage } from 'node:http';
import type { Ability, AuthMode } from '@cronjob-monitor/shared/contract';
import type { Identity } from '@cronjob-monitor/shared/kube';
import type { Place } from './permission.ts';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** The caller, as far as the service knows it. */
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

/** Which namespaces a caller may look into with one ability. Lists are cut to it before they are asked for. */
export interface Reach {
  /** Everywhere: nothing has to be left out. */
  readonly isWhole: boolean;
  readonly isNowhere: boolean;
  includes(namespace: string): boolean;
  /**
   * The namespaces to look into when these are asked for, none meaning all. The result reads the same: it is empty only where
   * everything may be looked at, and holds a name that nothing has where nothing may.
   */
  within(asked: readonly string[]): readonly string[];
}

/** No namespace has this name: a filter by it finds nothing. */
const nowhere = '';

export const everywhere: Reach = { isWhole: true, isNowhere: false, includes: () => true, within: (asked) => asked };

export function reachOf(permitted: Iterable<string>): Reach {
  const names = new Set(permitted);
  return {
    isWhole: false,
    isNowhere: names.size === 0,
    includes: (namespace) => names.has(namespace),
    within(asked) {
      const kept = asked.length === 0 ? [...names] : asked.filter((namespace) => names.has(namespace));
      return kept.length === 0 ? [nowhere] : kept;
    },
  };
}

/** Whether an address of a socket is one of these addresses and CIDRs. IPv4 written as IPv6 is IPv4. */
export function peersOf(entries: readonly string[]): (address: string | undefined) => boolean {
  const peers = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) peers.addAddress(address, family);
    else peers.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    if (address === undefined) return false; // the socket is closed: no caller is there
    const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');
    if (isIP(plain) === 0) return false;
    return peers.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  };
}
