import type { IncomingMessage } from 'node:http';
import { unauthenticated } from '../errors.ts';
import type { Authentication } from './authentication.ts';
import { peersOf } from './peers.ts';
import { reviewedAuthentication, type Introduction, type ReviewedDeps } from './reviewed.ts';

export interface ProxySettings {
  /** Addresses and CIDRs of those who may say who calls. */
  readonly peers: readonly string[];
  readonly userHeader: string;
  readonly groupsHeader: string;
}

/** The group that an API server adds to everybody it knows. */
const knownGroup = 'system:authenticated';
const missing = 'The proxy in front of this service names no user';

/** Mode proxy: a proxy says who calls, in headers that are believed from its addresses alone; the cluster says what they may do. */
export function proxyAuthentication(settings: ProxySettings, deps: ReviewedDeps): Authentication {
  const isPeer = peersOf(settings.peers);
  const introduction: Introduction = {
    mode: 'proxy',
    missing,
    async identify(request) {
      const users = valuesOf(request, settings.userHeader);
      const groups = valuesOf(request, settings.groupsHeader);
      if (!isPeer(request.socket.remoteAddress)) {
        if (users.length === 0 && groups.length === 0) return undefined;
        throw unauthenticated('Only the proxy in front of this service may say who calls; see auth.proxy.peers');
      }
      const [user = ''] = users;
      // Two names: one of them is the client's own, and the proxy did not strip it.
      if (users.length > 1) throw unauthenticated('The request names more than one user');
      if (user === '') return undefined;
      const named = groups.flatMap((value) => value.split(',')).map((group) => group.trim());
      return { user, uid: undefined, groups: [...new Set([...named.filter(Boolean), knownGroup])], extra: {} };
    },
  };
  return reviewedAuthentication(introduction, deps);
}

/** Every value of a header, each as UTF-8: Node reads the bytes as Latin-1 and joins what stands twice. */
function valuesOf({ rawHeaders }: IncomingMessage, header: string): string[] {
  const wanted = header.toLowerCase();
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() === wanted
      ? [
          Buffer.from(rawHeaders[index + 1] ?? '', 'latin1')
            .toString('utf8')
            .trim(),
        ]
      : [],
  );
}
