import type { Clock, ProblemList } from '@cronjob-monitor/shared/process';
import { findLiveLeader, getLeader, listHeartbeats, StoreError, type Store } from '@cronjob-monitor/shared/store';
import type { DatabaseWatch } from '../../database-watch.ts';
import type { ApiSettings } from '../../settings.ts';
import type { HealthFacts } from './present.ts';

/** So long may the database take: health answers in any case. */
const patienceMs = 2_000;

export interface HealthDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: ApiSettings;
  readonly databaseWatch: DatabaseWatch;
  readonly problems: ProblemList;
}

/** What health is told from; a database that does not answer in time is unreachable. */
export async function gatherHealth(deps: HealthDeps): Promise<HealthFacts> {
  const patience = new AbortController();
  const late = deps.clock.sleep(patienceMs, patience.signal).then(
    () => unreachable(deps),
    () => unreachable(deps), // aborted: the facts came first
  );
  try {
    return await Promise.race([askDatabase(deps), late]);
  } finally {
    patience.abort();
  }
}

async function askDatabase(deps: HealthDeps): Promise<HealthFacts> {
  const { store, settings, databaseWatch } = deps;
  const { storage, schema } = await databaseWatch.look();
  if (storage === 'unreachable' || storage === 'migrating') return { ...unreachable(deps), storage };
  try {
    const [leader, term] = await Promise.all([findLiveLeader(store, store.now(), settings.leaseMs), getLeader(store)]);
    // Without a leader those who wait for the lead say why they do not take it.
    const waiting = leader ? [] : await listHeartbeats(store);
    const isSameTerm = leader?.epoch !== undefined && leader.epoch === term.epoch;
    return {
      storage,
      problems: deps.problems.current(),
      schemaVersion: schema?.version,
      leader,
      waiting: waiting.filter(({ beatAt }) => beatAt >= store.now() - settings.leaseMs),
      leadsSinceAt: isSameTerm ? term.sinceAt : undefined,
      now: store.now(),
    };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return unreachable(deps);
  }
}

function unreachable({ store, problems }: HealthDeps): HealthFacts {
  return {
    storage: 'unreachable',
    problems: problems.current(),
    schemaVersion: undefined,
    leader: undefined,
    waiting: [],
    leadsSinceAt: undefined,
    now: store.now(),
  };
}
