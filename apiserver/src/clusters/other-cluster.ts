import type { ErrorCode } from '@cronjob-monitor/shared/contract';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { ProblemList } from '@cronjob-monitor/shared/process';
import { databaseProblems, listNamespaces, touchLists } from '@cronjob-monitor/shared/store';
import { createDatabaseWatch } from '../database-watch.ts';
import { ApiError, onlyReadHere } from '../errors.ts';
import { createGuard } from '../middleware/guard.ts';
import type { Authentication } from '../auth/authentication.ts';
import { Silence, type Clusters, type Route, type ServedCluster } from '../routes/index.ts';
import type { FoundCluster } from './directory.ts';
import { createElsewhere } from './elsewhere.ts';
import { authenticationFor, createRemoteGuard } from './remote-guard.ts';
import { RightsElsewhere } from './rights-elsewhere.ts';
import { createRouteDeps, type Bounds, type SharedParts } from './route-deps.ts';
import { toAnswer } from './to-answer.ts';
import type { ApiSettings } from '../settings.ts';

interface Around extends Bounds {
  readonly clusters: Clusters;
  readonly shared: SharedParts;
  /** Of the own cluster. */
  readonly settings: ApiSettings;
  readonly authentication: Authentication;
  /** What it answers with. */
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
  // Of two that give themselves one name neither could tell which of them is asked.
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
