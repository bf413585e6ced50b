import type { Ability, Health } from '@cronjob-monitor/shared/contract';
import type { Clock, Logger, ProblemList } from '@cronjob-monitor/shared/process';
import type { EndedRuns, Store } from '@cronjob-monitor/shared/store';
import type { Actions } from '../actions/index.ts';
import type { Authentication, Caller, Reach } from '../auth/authentication.ts';
import type { Elsewhere } from './clusters/ask.ts';
import type { Silence } from './clusters/silence.ts';
import type { ApiMiddleware } from '../context.ts';
import type { DatabaseWatch } from '../database-watch.ts';
import type { Feed, OpenStreams } from '../live/feed.ts';
import type { CostlyCalls } from '../middleware/costly.ts';
import type { Guard } from '../middleware/guard.ts';
import type { ProcessFacts } from '../process-facts.ts';
import type { ApiSettings } from '../settings.ts';
import type { KeptFleet } from '../live/kept-fleet.ts';
import type { SharedAnswers } from '../shared-answers.ts';

/** What routes are made of, for one cluster. */
export interface RouteDeps {
  /** All that this process shows, this one among them. */
  readonly clusters: Clusters;
  readonly store: Store;
  readonly answers: SharedAnswers;
  readonly fleet: KeptFleet;
  readonly ended: EndedRuns;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: ApiSettings;
  readonly guard: Guard;
  readonly authentication: Authentication;
  readonly actions: Actions;
  /** Absent: this is the own cluster, or one that is only read. */
  readonly elsewhere?: Elsewhere | undefined;
  readonly databaseWatch: DatabaseWatch;
  readonly problems: ProblemList;
  readonly process: ProcessFacts;
  /** How the service is. Callers that ask at once share an answer. */
  readonly health: () => Promise<Health>;
  readonly feed: Feed;
  readonly streams: OpenStreams;
  /** Wrong keys that one peer may try for one drill in a minute. */
  readonly wrongDrillKeys: CostlyCalls;
}

/** A cluster whose rows this process can read: its own, or one in another schema of the same database server. */
export interface ServedCluster {
  /** Value of the parameter `cluster`; no two have the same. */
  readonly name: string;
  /** Empty in SQLite, which has none. */
  readonly schema: string;
  readonly isHome: boolean;
  /** Whether its rows come; undefined for the own one, without which nothing is answered. */
  readonly silence: Silence | undefined;
  readonly deps: RouteDeps;
  /** Answers the paths of /api/v1 for it. */
  readonly answer: ApiMiddleware;
  /** Where the caller may read it, among those asked for, none meaning all; undefined: nowhere. Of the own cluster each route asks by itself. */
  reachOf(caller: Caller, ability: Ability, asked: readonly string[]): Promise<Reach | undefined>;
}

export interface Clusters {
  readonly home: ServedCluster;
  /** The home cluster first, the others by name. */
  all(): readonly ServedCluster[];
  /** By its name; looks for new ones before it says that there is none. */
  find(name: string): Promise<ServedCluster | undefined>;
}
