import type { Clock } from '@cronjob-monitor/shared/process';
import { findLiveLeader, getLeader, StoreError, type Store } from '@cronjob-monitor/shared/store';
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
  if (storage !== 'connected') return { ...unreachable(deps), storage };
  try {
    const [leader, term] = await Promise.all([findLiveLeader(store, store.now(), settings.leaseMs), getLeader(store)]);
    const isSameTerm = leader?.epoch !== undefined && leader.epoch === term.epoch;
    return {
      storage,
      schemaVersion: schema?.version,
      leader,
      leadsSinceAt: isSameTerm ? term.sinceAt : undefined,
      now: store.now(),
    };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return unreachable(deps);
  }
}

function unreachable({ store }: HealthDeps): HealthFacts {
  return {
    storage: 'unreachable',
    schemaVersion: undefined,
    leader: undefined,
    leadsSinceAt: undefined,
    now: store.now(),
  };
}
