import type { Health } from '@cronjob-monitor/shared/contract';
import type { Clock, Logger, ProblemList } from '@cronjob-monitor/shared/process';
import type { Store, EndedRuns } from '@cronjob-monitor/shared/store';
import type { Actions } from '../actions/index.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { Clusters, Elsewhere } from './clusters/served.ts';
import type { DatabaseWatch } from '../database-watch.ts';
import type { Feed } from '../live/feed.ts';
import type { OpenStreams } from '../live/open-streams.ts';
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
