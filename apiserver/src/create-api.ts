import type { RequestListener } from 'node:http';
import type { StreamData } from '@cronjob-monitor/shared/contract';
import { HeapHaste, type Clock, type Logger, type ProblemList, type Registry } from '@cronjob-monitor/shared/process';
import { databaseProblems, findChangeMark, listNamespaces, type Store } from '@cronjob-monitor/shared/store';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { createApp } from './app.ts';
import { createActions } from './actions/index.ts';
import { createAuthentication } from './auth/create-authentication.ts';
import { createDatabaseWatch, storeTranslation } from './database-watch.ts';
import { createApiMetrics } from './metrics.ts';
import { createFeed } from './live/feed.ts';
import { createOpenStreams } from './live/open-streams.ts';
import { createCostlyCalls } from './middleware/costly.ts';
import { createExpensiveReads } from './middleware/expensive.ts';
import { createGuard } from './middleware/guard.ts';
import { createInstalledRedaction } from './installed-redaction.ts';
import { createPatternThread, createSearchThread } from './pattern-thread.ts';
import { createProcessFacts } from './process-facts.ts';
import { createKeptFleet } from './live/kept-fleet.ts';
import { gatherHealth, keepEndedRuns, presentHealth } from './routes/index.ts';
import type { ApiSettings } from './settings.ts';
import { createSharedAnswers } from './shared-answers.ts';

/** After a costly read: a reader of a large fleet reads more of it. */
const hasteMs = 15_000;

const wrongDrillKeysAMinute = 10;

export interface ApiDeps {
  readonly settings: ApiSettings;
  /** May not be reachable yet: until it is, answers say so. */
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is wrong with this process: readiness and health tell it. */
  readonly problems: ProblemList;
  readonly registry: Registry;
  /** Of the program, such as 0.1.0. */
  readonly version: string;
  /** Folder of the built user interface; undefined serves none. */
  readonly uiFolder: string | undefined;
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

  const fleet = createKeptFleet({ store, clock });
  const haste = new HeapHaste(clock, hasteMs);
  const processFacts = createProcessFacts(deps.version, clock);
  const streams = createOpenStreams(metrics.streams);
  const patternThread = createPatternThread(clock);
  const searchThread = createSearchThread(clock);
  const redaction = createInstalledRedaction({ clock, logger, patterns: settings.redactPatterns });
  const readHealth = async (): Promise<StreamData['health']> => {
    const facts = await gatherHealth({ store, clock, settings, databaseWatch, problems: deps.problems });
    const { status, storage, ready, leader, lastEvaluation } = presentHealth(facts, settings, processFacts);
    return { status, storage, ready, leader, lastEvaluation };
  };

  const handler = createApp({
    streams,
    feed: createFeed({ store, clock, logger, readHealth }),
    settings,
    store,
    answers: createSharedAnswers({
      clock,
      findMark: () => findChangeMark(store),
      onCostly: () => haste.hurry(stopping.signal),
    }),
    fleet,
    ended: keepEndedRuns({ store, fleet, clock }),
    clock,
    logger,
    authentication,
    databaseWatch,
    problems: deps.problems,
    metrics,
    guard: createGuard({
      isReadOnly: settings.readOnly,
      databaseWatch,
      authentication,
      expensiveReads: createExpensiveReads(),
      costlyCalls: createCostlyCalls({ clock, perMinute: settings.costlyRequestsPerMinute }),
    }),
    wrongDrillKeys: createCostlyCalls({ clock, perMinute: wrongDrillKeysAMinute }),
    actions: createActions({ ...deps, patternThread, searchThread, redaction }),
    process: processFacts,
    translations: [storeTranslation(databaseWatch)],
    uiFolder: deps.uiFolder,
    isStopping: () => stopping.signal.aborted,
  });

  let watching: Promise<void> = Promise.resolve();
  return {
    handler,
    start: () => {
      watching = databaseWatch.run(stopping.signal);
    },
    retire: async (ms) => {
      isRetired = true;
      if (ms > 0) await clock.sleep(ms);
    },
    stop: async () => {
      stopping.abort();
      streams.endAll();
      await Promise.all([watching, patternThread.close(), searchThread.close(), redaction.close()]);
    },
  };
}
