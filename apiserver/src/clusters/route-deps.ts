import type { Cluster, Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger, ProblemList } from '@cronjob-monitor/shared/process';
import { findChangeMark, type Store, readEndedRuns } from '@cronjob-monitor/shared/store';
import { createActions } from '../actions/index.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { DatabaseWatch } from '../database-watch.ts';
import { createFeed, type OpenStreams } from '../live/feed.ts';
import { createKeptFleet } from '../live/kept-fleet.ts';
import { joined } from '../live/joined.ts';
import { createCostlyCalls, type createExpensiveReads } from '../middleware/costly.ts';
import type { Guard } from '../middleware/guard.ts';
import type { createPatternThread, createSearchThread } from '../pattern-thread.ts';
import type { ProcessFacts } from '../process-facts.ts';
import { type Clusters, type Elsewhere, gatherHealth, presentHealth, type RouteDeps } from '../routes/index.ts';
import type { ApiSettings } from '../settings.ts';
import { createSharedAnswers } from '../shared-answers.ts';

const wrongDrillKeysAMinute = 10;

export interface SharedParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: ProcessFacts;
  readonly streams: OpenStreams;
  readonly patternThread: ReturnType<typeof createPatternThread>;
  readonly searchThread: ReturnType<typeof createSearchThread>;
  readonly redaction: Redaction;
}

/** Concurrent reads of one caller, over all clusters. */
export interface Bounds {
  readonly expensiveReads: ReturnType<typeof createExpensiveReads>;
  readonly costlyCalls: ReturnType<typeof createCostlyCalls>;
}

export interface OwnParts {
  readonly settings: ApiSettings;
  readonly store: Store;
  readonly cluster: Cluster;
  readonly authentication: Authentication;
  readonly databaseWatch: DatabaseWatch;
  readonly problems: ProblemList;
  readonly guard: Guard;
  readonly elsewhere?: Elsewhere | undefined;
}

/** Puts together what the routes of one cluster are made of. Nothing runs before the first request. */
export function createRouteDeps(clusters: Clusters, shared: SharedParts, own: OwnParts): RouteDeps {
  const { clock, logger, streams, process } = shared;
  const { settings, store, authentication, databaseWatch, problems, guard } = own;
  const fleet = createKeptFleet({ store, clock });
  const health = joined(async () =>
    presentHealth(await gatherHealth({ store, clock, settings, databaseWatch, problems }), settings, process),
  );
  const answers = createSharedAnswers({ clock, findMark: () => findChangeMark(store) });
  return {
    clusters,
    store,
    answers,
    fleet,
    clock,
    logger,
    settings,
    guard,
    elsewhere: own.elsewhere,
    authentication,
    databaseWatch,
    problems,
    process,
    streams,
    ended: readEndedRuns(
      store,
      () => clock.now(),
      (read) => fleet.keep(read),
    ),
    actions: createActions({ ...shared, ...own }),
    health,
    feed: createFeed({
      store,
      clock,
      logger,
      async readHealth() {
        const { status, storage, ready, leader, lastEvaluation } = await health();
        return { status, storage, ready, leader, lastEvaluation };
      },
    }),
    wrongDrillKeys: createCostlyCalls({ clock, perMinute: wrongDrillKeysAMinute }),
  };
}
