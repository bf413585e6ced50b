import { actingAbilities, elsewhereAbilities, type Ability } from '@cronjob-monitor/shared/contract';
import type { Authentication, Caller } from '../auth/authentication.ts';
import { rightToReadCluster } from '../auth/permission.ts';
import { everywhere } from '../auth/reach.ts';
import { isUnsafe } from '../context.ts';
import { forbidden, noKeyFor, onlyReadHere } from '../errors.ts';
import type { Guard } from '../middleware/guard.ts';
import type { Elsewhere } from '../routes/index.ts';

/**
 * Callers of this service, about another cluster: who may `get` it here may read all that is stored of it. What else they may do there is for
 * that cluster to decide: from here it is asked, where it answers, and nothing else is done.
 */
export function authenticationFor(home: Authentication, cluster: string, elsewhere?: Elsewhere): Authentication {
  const may = (caller: Caller): Promise<boolean> => home.mayReadCluster(caller, cluster);
  return {
    mode: home.mode,
    authenticate: (request) => home.authenticate(request),
    isNamespaced: () => false,
    may,
    reach: async () => everywhere,
    mayReadCluster: (caller, name) => home.mayReadCluster(caller, name),
    async permit(caller, ability) {
      if (acting.has(ability) && !askedElsewhere.has(ability)) throw onlyReadHere(cluster);
      if (!(await may(caller))) throw refused(cluster);
    },
    async abilitiesOf(request, namespace) {
      const { caller } = await home.abilitiesOf(request, namespace);
      const isReader = await may(caller);
      const isTaken = isReader && ((await elsewhere?.isTaken()) ?? false);
      return {
        caller,
        may: (ability) => (isReader && readableFromRows.has(ability)) || (isTaken && askedElsewhere.has(ability)),
      };
    },
  };
}

/** Abilities that need nothing but rows. */
const readableFromRows: ReadonlySet<string> = new Set(['read', 'readMonitors', 'readChannels', 'readLogs', 'preview']);

const acting: ReadonlySet<Ability> = new Set(actingAbilities);
const askedElsewhere: ReadonlySet<Ability> = new Set(elsewhereAbilities);

function refused(cluster: string): Error {
  const { verb, group, resource } = rightToReadCluster(cluster);
  return forbidden(verb, `${resource}.${group}/${cluster}`, undefined);
}

/** The checks before a route of another cluster, which is only read here but for what its own service is asked. */
export function createRemoteGuard(cluster: string, guard: Guard, elsewhere?: Elsewhere): Guard {
  return (endpoint) => {
    const read = guard(endpoint);
    return async (ctx, next) => {
      if (isUnsafe(ctx.method) && !endpoint.harmless) {
        if (!endpoint.elsewhere) throw onlyReadHere(cluster);
        if (!elsewhere) throw noKeyFor(cluster);
      }
      // The configuration is that of this service.
      if (ctx.path === '/api/v1/config') throw onlyReadHere(cluster);
      await read(ctx, next);
    };
  };
}
