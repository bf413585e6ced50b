import {
  abilities,
  type Ability,
  actingAbilities,
  elsewhereAbilities,
  type ErrorCode,
} from '@cronjob-monitor/shared/contract';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { ProblemList } from '@cronjob-monitor/shared/process';
import { databaseProblems, listNamespaces, touchLists } from '@cronjob-monitor/shared/store';
import { createDatabaseWatch } from '../database-watch.ts';
import { ApiError, forbidden, noKeyFor, onlyReadHere } from '../errors.ts';
import { createGuard, type Guard } from '../middleware/guard.ts';
import { type Authentication, type Caller, everywhere, type Reach, reachOf } from '../auth/authentication.ts';
import { type Clusters, type Elsewhere, type Route, type ServedCluster, Silence } from '../routes/index.ts';
import type { FoundCluster } from './directory.ts';
import { createElsewhere } from './elsewhere.ts';
import { RightsElsewhere } from './rights-elsewhere.ts';
import { type Bounds, createRouteDeps, type SharedParts } from './route-deps.ts';
import { toAnswer } from './asked-calls.ts';
import type { ApiSettings } from '../settings.ts';
import { isNamespaced, type Place, rightToReadCluster } from '../auth/permission.ts';
import { isUnsafe } from '../context.ts';

interface Around extends Bounds {
  readonly clusters: Clusters;
  readonly shared: SharedParts;
  /** Of the own cluster. */
  readonly settings: ApiSettings;
  readonly authentication: Authentication;
  readonly routes: readonly Route[];
}

/** Wires a cluster that is found in another schema: its rows are read here, and its own service is asked for the rest. */
export function serveOther(found: FoundCluster, deps: Around): { readonly cluster: ServedCluster; stop(): void } {
  const { name, schema, store, said } = found;
  const { shared } = deps;
  const { clock, logger } = shared;
  const stopping = new AbortController();
  const problems = new ProblemList({ clock, logger });
  const databaseWatch = createDatabaseWatch({ store, clock, logger });
  problems.add(() => databaseProblems(store, clock));
  problems.add(() => databaseWatch.problems());
  void databaseWatch.run(stopping.signal);
  const { expensiveReads, costlyCalls, settings } = deps;
  const { clusterName: home, actionsKey: key } = settings;
  // Two clusters with one name cannot be told apart, so neither is asked.
  const isItself = said.name === name && home !== undefined;
  const elsewhere = key && isItself ? createElsewhere({ store, schema, target: name, home, key, clock }) : undefined;
  const way = elsewhere && { elsewhere, rights: new RightsElsewhere(elsewhere, clock) };
  const authentication = authenticationFor(deps.authentication, {
    name,
    way,
    listNamespaces: () => listNamespaces(store),
  });
  const guard = createRemoteGuard(
    name,
    createGuard({ isReadOnly: settings.readOnly, authentication, costlyCalls, expensiveReads, databaseWatch }),
    way,
  );
  const defaultTimeZone = said.defaultTimeZone ?? settings.defaultTimeZone;
  const routeDeps = createRouteDeps(deps.clusters, shared, {
    settings: {
      ...settings,
      clusterName: name,
      defaultTimeZone,
      isDefaultZoneGiven: said.defaultTimeZone !== undefined,
    },
    store,
    cluster: outOfReach(name),
    authentication,
    databaseWatch,
    problems,
    guard,
    elsewhere,
  });
  const cluster: ServedCluster = {
    name,
    schema,
    isHome: false,
    silence: new Silence(name, { ask: () => touchLists(store), clock, logger, signal: stopping.signal }),
    deps: routeDeps,
    answer: toAnswer(routeDeps, deps.routes),
    reachOf: (caller, ability, asked) =>
      authentication.reach(caller, ability, asked).then(
        (reach) => (reach.isNowhere ? undefined : reach),
        (error: unknown) => {
          if (error instanceof ApiError && isNoReach.has(error.code)) return undefined;
          throw error;
        },
      ),
  };
  return { cluster, stop: () => stopping.abort() };
}

/** A caller without rights there, or of whose rights nothing is known, hears nothing of a cluster in lists. */
const isNoReach: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['FORBIDDEN', 'CLUSTER_SILENT']);

/** The API server of another cluster is never asked from here: whatever would, is told so. */
function outOfReach(name: string): Cluster {
  const refuse = async (): Promise<never> => {
    throw onlyReadHere(name);
  };
  // Every member of a client is a function that gives a promise, but for what describes it.
  return new Proxy({} as Cluster, { get: (_, member) => (member === 'then' ? undefined : refuse) });
}

/** How another cluster is asked, where it can be. */
interface OtherWay {
  readonly elsewhere: Elsewhere;
  readonly rights: RightsElsewhere;
}

interface OtherCluster {
  readonly name: string;
  readonly way: OtherWay | undefined;
  /** Namespaces of which anything is stored. */
  readonly listNamespaces: () => Promise<readonly string[]>;
}

/**
 * Callers of this service, about another cluster: who may `get` it here may read all that is stored of it, and others what its own rights let
 * them read, namespace by namespace. What is done there is for that cluster to decide, where it answers, and nothing else is done.
 */
function authenticationFor(home: Authentication, { name, way, listNamespaces }: OtherCluster): Authentication {
  const readsAll = (caller: Caller): Promise<boolean> => home.mayReadCluster(caller, name);

  const may = async (caller: Caller, ability: Ability, place: Place): Promise<boolean> => {
    if (acting.has(ability)) return asked.has(ability) && way !== undefined && way.rights.may(caller, ability, place);
    return (await readsAll(caller)) || (way !== undefined && way.rights.may(caller, ability, place));
  };

  /** Where, among these namespaces; undefined: everywhere. */
  const among = async (
    caller: Caller,
    ability: Ability,
    candidates: readonly string[],
  ): Promise<readonly string[] | undefined> => {
    const [isEverywhere = false, ...isThere] = await Promise.all(
      [{}, ...candidates.map((namespace) => ({ namespace }))].map((place) => may(caller, ability, place)),
    );
    return isEverywhere ? undefined : candidates.filter((_, index) => isThere[index]);
  };

  return {
    mode: home.mode,
    authenticate: (request) => home.authenticate(request),
    isNamespaced: (ability) => home.mode !== 'none' && isNamespaced(ability),
    may,
    async reach(caller, ability, within): Promise<Reach> {
      if (await readsAll(caller)) return everywhere;
      const known = await listNamespaces();
      const candidates = within.length === 0 ? known : within;
      const found = await among(caller, ability, isNamespaced(ability) ? candidates : []);
      if (!found) return everywhere;
      // A caller without any right there is told which right is missing.
      if (found.length === 0 && (await among(caller, 'read', known))?.length === 0) throw refused(name);
      return reachOf(found);
    },
    mayReadCluster: (caller, other) => home.mayReadCluster(caller, other),
    async permit(caller, ability, place) {
      if (acting.has(ability) && !asked.has(ability)) throw onlyReadHere(name);
      // Its own service asks for this right as it is done.
      if (asked.has(ability) && way) return;
      if (!(await may(caller, ability, place))) throw refused(name);
    },
    async abilitiesOf(request, namespace) {
      const { caller } = await home.abilitiesOf(request, namespace);
      const isKnown = caller.user !== undefined || home.mode === 'none';
      const places: Place[] = [{ namespace }];
      if (isKnown && namespace === undefined)
        places.push(...(await listNamespaces()).slice(0, mostLookedInto).map((one) => ({ namespace: one })));
      const isGranted = await Promise.all(
        abilities.map(async (ability) => {
          if (!isKnown || (!acting.has(ability) && !readableFromRows.has(ability))) return false;
          if (acting.has(ability) && !(await way?.elsewhere.isTaken())) return false;
          const where = isNamespaced(ability) ? places : places.slice(0, 1);
          return (await Promise.all(where.map((place) => may(caller, ability, place)))).includes(true);
        }),
      );
      const granted = new Set(abilities.filter((_, index) => isGranted[index]));
      return { caller, may: (ability) => granted.has(ability) };
    },
  };
}

/** Abilities that need nothing but rows. */
const readableFromRows: ReadonlySet<string> = new Set(['read', 'readMonitors', 'readChannels', 'readLogs', 'preview']);
/** Where an ability is looked for when the caller asks for any namespace. */
const mostLookedInto = 10;

const acting: ReadonlySet<Ability> = new Set(actingAbilities);
const asked: ReadonlySet<Ability> = new Set(elsewhereAbilities);

function refused(cluster: string): Error {
  const { verb, group, resource } = rightToReadCluster(cluster);
  return forbidden(verb, `${resource}.${group}/${cluster}`, undefined);
}

/** The checks before a route of another cluster, which is only read here but for what its own service is asked. */
function createRemoteGuard(cluster: string, guard: Guard, way: OtherWay | undefined): Guard {
  return (endpoint) => {
    const read = guard(endpoint);
    return async (ctx, next) => {
      if (isUnsafe(ctx.method) && !endpoint.harmless) {
        if (!endpoint.elsewhere) throw onlyReadHere(cluster);
        if (!way) throw noKeyFor(cluster);
      }
      // The configuration is that of this service.
      if (ctx.path === '/api/v1/config') throw onlyReadHere(cluster);
      await read(ctx, next);
      const { caller } = ctx.state;
      const asOf = caller && way?.rights.servedAsOf(caller);
      if (asOf !== undefined) ctx.set(rightsAsOfHeader, new Date(asOf).toISOString());
    };
  };
}

/** Since when the rights hold by which a cluster that gives no answer is read. */
const rightsAsOfHeader = 'X-Rights-As-Of';
