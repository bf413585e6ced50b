import type { IncomingMessage } from 'node:http';
import { type AuthMode, abilities, type Ability } from '@cronjob-monitor/shared/contract';
import type { Identity } from '@cronjob-monitor/shared/kube';
import {
  type Authentication,
  peerOf,
  type Caller,
  everywhere,
  reachOf,
  type Reach,
  peersOf,
} from './authentication.ts';
import { createReviews, type ReviewDeps, type Reviews } from './caller-reviews.ts';
import { unauthenticated, forbidden } from '../errors.ts';
import { isNamespaced, missingRight, questionOf, rightToReadCluster, type Place } from './permission.ts';

/** `auth.*` of the configuration. */
export interface AuthSettings {
  readonly mode: AuthMode;
  readonly audiences: readonly string[];
  readonly proxy: {
    /** Addresses and CIDRs of those who may say who calls. */
    readonly peers: readonly string[];
    readonly userHeader: string;
    readonly groupsHeader: string;
  };
}

/** Namespaces in which there is anything to see. */
type ListNamespaces = () => Promise<readonly string[]>;

type AuthDeps = Omit<ReviewDeps, 'audiences'> & { readonly listNamespaces: ListNamespaces };

export function createAuthentication(settings: AuthSettings, deps: AuthDeps): Authentication {
  const { mode } = settings;
  if (mode === 'none') return noAuthentication();
  const reviews = createReviews({ ...settings, ...deps });
  const { listNamespaces } = deps;
  return mode === 'token'
    ? tokenAuthentication(reviews, listNamespaces)
    : proxyAuthentication(settings.proxy, reviews, listNamespaces);
}

/** Mode none: the service asks for no name, and every caller that reaches it may act. */
function noAuthentication(): Authentication {
  return {
    mode: 'none',
    authenticate: async (request) => ({ mode: 'none', user: undefined, peer: peerOf(request) }),
    isNamespaced: () => false,
    permit: async () => {},
    may: async () => true,
    reach: async () => everywhere,
    mayReadCluster: async () => true,
    abilitiesOf: async (request) => ({
      caller: { mode: 'none', user: undefined, peer: peerOf(request) },
      may: () => true,
    }),
  };
}

/** The group that an API server adds to every user it knows. */
const knownGroup = 'system:authenticated';
const noUser = 'The proxy in front of this service names no user';

/** Mode proxy: a proxy says who calls, in headers that are believed from its addresses alone; the cluster says what they may do. */
function proxyAuthentication(
  settings: AuthSettings['proxy'],
  reviews: Reviews,
  listNamespaces: ListNamespaces,
): Authentication {
  const isPeer = peersOf(settings.peers);
  const introduction: Introduction = {
    mode: 'proxy',
    missing: noUser,
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
  return reviewedAuthentication(introduction, reviews, listNamespaces);
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

const noToken = 'A bearer token is needed: Authorization: Bearer <token>';
const refused = 'The token is not valid, or no longer';

/** Mode token: the bearer token of the cluster, and what the cluster lets its holder do. */
function tokenAuthentication(reviews: Reviews, listNamespaces: ListNamespaces): Authentication {
  const introduction: Introduction = {
    mode: 'token',
    missing: noToken,
    async identify({ headers: { authorization } }) {
      if (authorization === undefined) return undefined;
      const token = /^bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];
      if (token === undefined) throw unauthenticated(noToken);
      const identity = await reviews.identityOf(token);
      if (!identity) throw unauthenticated(refused);
      return identity;
    },
  };
  return reviewedAuthentication(introduction, reviews, listNamespaces);
}

/** How a mode learns who calls. */
interface Introduction {
  readonly mode: AuthMode;
  /** Undefined when the request carries no name. Throws UNAUTHENTICATED when the name it carries is not proved. */
  identify(request: IncomingMessage): Promise<Identity | undefined>;
  /** What a refusal asks for. */
  readonly missing: string;
}

/** Reviews of one request that are under way at once. */
const atOnce = 10;
/** Where an ability is looked for when the caller asks for any namespace: of a right that only a further one grants whoami says no. */
const mostLookedInto = 10;

/** Callers that the cluster vouches for, with the rights that the cluster gives them: modes token and proxy. */
function reviewedAuthentication(
  introduction: Introduction,
  reviews: Reviews,
  listNamespaces: ListNamespaces,
): Authentication {
  const { mode } = introduction;

  const may = async ({ identity }: Caller, ability: Ability, place: Place): Promise<boolean> => {
    if (!identity) return false;
    const question = questionOf(ability, place);
    return question === undefined || reviews.isAllowed(identity, question);
  };

  /** One question for the whole cluster; only where that is denied, one for each namespace. */
  const reachAmong = async (
    caller: Caller,
    ability: Ability,
    candidates: () => Promise<readonly string[]>,
  ): Promise<Reach> => {
    if (await may(caller, ability, {})) return everywhere;
    if (!isNamespaced(ability)) return reachOf([]);
    const namespaces = await candidates();
    const isPermitted = await mapBounded(namespaces, (namespace) => may(caller, ability, { namespace }));
    return reachOf(namespaces.filter((_, index) => isPermitted[index]));
  };

  /** Namespaces to look into for rights in any of them: those that the caller sees. */
  const listPlaces = async (caller: Caller): Promise<readonly string[]> => {
    const known = await listNamespaces().catch(() => []); // without a database none is known, and the caller is told of themselves
    const seen = await reachAmong(caller, 'read', async () => known);
    return known.filter((namespace) => seen.includes(namespace)).slice(0, mostLookedInto);
  };

  const identify = async (request: IncomingMessage): Promise<Caller> => {
    const identity = await introduction.identify(request);
    const user = identity && { name: identity.user, groups: identity.groups };
    return { mode, user, identity, peer: peerOf(request) };
  };

  return {
    mode,
    async authenticate(request) {
      const caller = await identify(request);
      if (!caller.user) throw unauthenticated(introduction.missing);
      return caller;
    },
    isNamespaced,
    may,
    reach: (caller, ability, asked) =>
      reachAmong(caller, ability, async () => {
        const known = await listNamespaces();
        return asked.length === 0 ? known : known.filter((namespace) => asked.includes(namespace));
      }),
    mayReadCluster: async ({ identity }, name) =>
      identity !== undefined && (await reviews.isAllowed(identity, rightToReadCluster(name))),
    async permit(caller, ability, place) {
      if (await may(caller, ability, place)) return;
      const question = questionOf(ability, place);
      if (!question) throw unauthenticated(introduction.missing);
      const { verb, resource, namespace } = missingRight(question);
      throw forbidden(verb, resource, namespace);
    },
    async abilitiesOf(request, namespace) {
      const caller = await identify(request);
      const granted = new Set<Ability>();
      const look = async (wanted: readonly Ability[], place: Place): Promise<void> => {
        const isGranted = await mapBounded(wanted, (ability) => may(caller, ability, place));
        for (const [index, ability] of wanted.entries()) if (isGranted[index]) granted.add(ability);
      };
      if (caller.identity) await look(abilities, { namespace });
      if (caller.identity && namespace === undefined) {
        for (const known of await listPlaces(caller)) {
          await look(
            abilities.filter((ability) => isNamespaced(ability) && !granted.has(ability)),
            { namespace: known },
          );
        }
      }
      return { caller, may: (ability) => granted.has(ability) };
    },
  };
}

/** Runs a few at a time, in order: many reviews of one request must not keep others waiting. */
async function mapBounded<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(run))));
  }
  return results;
}
