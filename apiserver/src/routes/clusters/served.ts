import type { ApiMiddleware } from '../../context.ts';
import type { Ability } from '@cronjob-monitor/shared/contract';
import type { Caller } from '../../auth/authentication.ts';
import type { Reach } from '../../auth/reach.ts';
import type { AskedCall, AskedAnswer } from './ask.ts';
import type { RouteDeps } from '../deps.ts';
import type { Silence } from './silence.ts';

/** A cluster whose rows this process can read: its own, or one in another schema of the same database server. */
export interface ServedCluster {
  /** Value of the parameter `cluster`; no two have the same. */
  readonly name: string;
  /** Empty in SQLite, which has none. */
  readonly schema: string;
  readonly isHome: boolean;
  /** Whether its rows come; undefined for the own one, without which nothing is answered. */
  readonly silence: Silence | undefined;
  /** What its routes are made of. */
  readonly deps: RouteDeps;
  /** Answers the paths of /api/v1 for it. */
  readonly answer: ApiMiddleware;
  /** Where the caller may read it, among those asked for, none meaning all; undefined: nowhere. Of the own cluster each route asks by itself. */
  reachOf(caller: Caller, ability: Ability, asked: readonly string[]): Promise<Reach | undefined>;
}

/** The clusters that this process shows. */
export interface Clusters {
  readonly home: ServedCluster;
  /** The home cluster first, the others by name. */
  all(): readonly ServedCluster[];
  /** By its name; looks for new ones before it says that there is none. */
  find(name: string): Promise<ServedCluster | undefined>;
}

/** Has the service of another cluster act. */
export interface Elsewhere {
  /** Whether one is there now that would. */
  isTaken(): Promise<boolean>;
  /**
   * Throws what that service refuses, and CLUSTER_SILENT, which says what is known, when none answers. `mostMs`: until the call is taken, 15 s
   * without it.
   */
  ask(call: AskedCall, caller: Caller, mostMs?: number): Promise<AskedAnswer>;
}
