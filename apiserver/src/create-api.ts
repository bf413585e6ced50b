import type { RequestListener } from 'node:http';
import {
  type Clock,
  createBudgetedThread,
  type Logger,
  type ProblemList,
  type Registry,
} from '@cronjob-monitor/shared/process';
import { databaseProblems, listNamespaces, type Store } from '@cronjob-monitor/shared/store';
import { type Cluster, createInstalledRedaction } from '@cronjob-monitor/shared/kube';
import { createApp } from './app.ts';
import { createAuthentication } from './auth/create-authentication.ts';
import { everywhere } from './auth/authentication.ts';
import type { Clusters, ServedCluster } from './routes/index.ts';
import { Agent } from './clusters/agent.ts';
import { createAnswerAsked, toAnswer } from './clusters/asked-calls.ts';
import { ClusterDirectory } from './clusters/directory.ts';
import { serveOther } from './clusters/other-cluster.ts';
import { type Bounds, createRouteDeps, type OwnParts, type SharedParts } from './clusters/route-deps.ts';
import { createDatabaseWatch, storeTranslation } from './database-watch.ts';
import { createApiMetrics } from './metrics.ts';
import { createOpenStreams } from './live/feed.ts';
import { createCostlyCalls, createExpensiveReads } from './middleware/costly.ts';
import { createGuard } from './middleware/guard.ts';
import { documentedRoutes as routes } from './openapi/index.ts';
import { createPatternThread, createSearchThread } from './pattern-thread.ts';
import { createProcessFacts } from './process-facts.ts';
import type { ApiSettings } from './settings.ts';

/** The own cluster where `cluster.name` names none. */
const unnamed = 'home';

export interface ApiDeps {
  readonly settings: ApiSettings;
  /** May not be reachable yet: until it is, answers say so. */
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Problems of this process, which readiness and health report. */
  readonly problems: ProblemList;
  readonly registry: Registry;
  /** Of the program, such as 0.1.0. */
  readonly version: string;
  /** Folder of the built user interface; undefined serves none. */
  readonly uiFolder: string | undefined;
  /** Opens another schema of the same database server, where another cluster may be; absent: there is none to look for. */
  readonly openSchema?: ((name: string) => Store) | undefined;
  /** Schema of the own cluster. */
  readonly schema?: string | undefined;
}

/** The REST API with the user interface. It opens no listener: the program that starts the process does. */
export interface Api {
  readonly handler: RequestListener;
  /** Begins to look after the database, without waiting for it. */
  start(): void;
  /** Says that it is not ready and serves on for `ms`, so that load balancers can notice. */
  retire(ms: number): Promise<void>;
  /** Takes no more requests and ends the streams. Open requests go on: the listener waits for them. */
  stop(): Promise<void>;
}

export function createApi(deps: ApiDeps): Api {
  const { settings, store, clock } = deps;
  const logger = deps.logger.child({ component: 'api' });
  const databaseWatch = createDatabaseWatch({ store, clock, logger });
  const stopping = new AbortController();
  let isRetired = false;
  deps.problems.add(() => databaseProblems(store, clock));
  deps.problems.add(() => databaseWatch.problems());
  deps.problems.add(() =>
    isRetired || stopping.signal.aborted
      ? [{ key: 'stopping', cause: undefined, sentence: 'it is stopping', blocks: true }]
      : [],
  );
  const metrics = createApiMetrics({ registry: deps.registry, clock });
  const authentication = createAuthentication(
    { mode: settings.authMode, ...settings.auth },
    { cluster: deps.cluster, clock, logger, count: metrics.countReview, listNamespaces: () => listNamespaces(store) },
  );

  const streams = createOpenStreams(metrics.streams);
  const patternThread = createPatternThread(clock);
  const searchThread = createSearchThread(clock);
  const redaction = createInstalledRedaction(createBudgetedThread, settings.redactPatterns, { clock, logger });
  const bounds: Bounds = {
    expensiveReads: createExpensiveReads(),
    costlyCalls: createCostlyCalls({ clock, perMinute: settings.costlyRequestsPerMinute }),
  };

  const shared: SharedParts = {
    clock,
    logger,
    process: createProcessFacts(deps.version, clock),
    streams,
    patternThread,
    searchThread,
    redaction,
  };
  const { openSchema } = deps;
  const clusters = new ClusterDirectory({
    serveHome: (all) => serveHome(all, shared, { ...deps, databaseWatch, authentication, bounds }),
    make: openSchema && {
      openStore: openSchema,
      serve: (found, all) => serveOther(found, { clusters: all, shared, settings, authentication, routes, ...bounds }),
    },
    clock,
    logger,
  });

  const translate = storeTranslation(databaseWatch);
  const agent = agentOf(settings, clusters.home.deps, { bounds, translate });
  const handler = createApp({
    settings,
    clusters,
    clock,
    logger,
    metrics,
    translations: [translate],
    uiFolder: deps.uiFolder,
    isStopping: () => stopping.signal.aborted,
  });

  let watching: Promise<unknown> = Promise.resolve();
  return {
    handler,
    start: () => {
      const { signal } = stopping;
      watching = Promise.all([databaseWatch.run(signal), clusters.run(signal), agent?.run(signal)]);
    },
    retire: async (ms) => {
      isRetired = true;
      if (ms > 0) await clock.sleep(ms);
    },
    stop: async () => {
      stopping.abort();
      streams.endAll();
      await Promise.all([watching, clusters.close(), patternThread.close(), searchThread.close(), redaction.close()]);
    },
  };
}

/** Undefined where no key is shared with other clusters. */
function agentOf(
  { actionsKey: key, clusterName: name, readOnly }: ApiSettings,
  home: ConstructorParameters<typeof Agent>[0],
  { bounds, translate }: { readonly bounds: Bounds; readonly translate: ReturnType<typeof storeTranslation> },
): Agent | undefined {
  if (!key || name === undefined) return undefined;
  const { databaseWatch } = home;
  const answerAsked = createAnswerAsked(home, {
    ...bounds,
    isReadOnly: readOnly,
    databaseWatch,
    routes,
  });
  return new Agent(home, { key, name, answerAsked, translate });
}

function serveHome(
  all: Clusters,
  shared: SharedParts,
  { bounds, ...own }: ApiDeps & Pick<OwnParts, 'databaseWatch' | 'authentication'> & { readonly bounds: Bounds },
): ServedCluster {
  const { settings, databaseWatch, authentication } = own;
  const guard = createGuard({ isReadOnly: settings.readOnly, databaseWatch, authentication, ...bounds });
  const deps = createRouteDeps(all, shared, { ...own, guard });
  const name = settings.clusterName ?? unnamed;
  return {
    name,
    schema: own.schema ?? '',
    isHome: true,
    silence: undefined,
    deps,
    answer: toAnswer(deps, routes),
    reachOf: async () => everywhere,
  };
}
