import type { IncomingMessage } from 'node:http';
import { abilities, type Ability, type AuthMode } from '@cronjob-monitor/shared/contract';
import type { Identity } from '@cronjob-monitor/shared/kube';
import { forbidden, unauthenticated } from '../errors.ts';
import { peerOf, type Authentication, type Caller } from './authentication.ts';
import { isNamespaced, missingRight, questionOf, type Place } from './permission.ts';
import { everywhere, reachOf, type Reach } from './reach.ts';
import type { Reviews } from './review-cache.ts';

/** How a mode learns who calls. */
export interface Introduction {
  readonly mode: AuthMode;
  /** Undefined when the request names nobody. Throws UNAUTHENTICATED when what it says cannot be believed. */
  identify(request: IncomingMessage): Promise<Identity | undefined>;
  /** What a refusal asks for. */
  readonly missing: string;
}

export interface ReviewedDeps {
  readonly reviews: Reviews;
  /** Namespaces in which there is anything to see. */
  readonly listNamespaces: () => Promise<readonly string[]>;
}

/** Reviews of one request that are under way at once. */
const atOnce = 10;
/** Where an ability is looked for when the caller asks for any namespace: of a right that only a further one grants whoami says no. */
const mostLookedInto = 10;

/** Callers that the cluster vouches for, with the rights that the cluster gives them: modes token and proxy. */
export function reviewedAuthentication(introduction: Introduction, deps: ReviewedDeps): Authentication {
  const { reviews } = deps;
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
    const known = await deps.listNamespaces().catch(() => []); // without a database none is known, and the caller is told of themselves
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
        const known = await deps.listNamespaces();
        return asked.length === 0 ? known : known.filter((namespace) => asked.includes(namespace));
      }),
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
