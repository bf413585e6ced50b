import { isInForce, type Instant } from '@cronjob-monitor/shared/domain';
import { findChangeBounds, listSilences, type StoredSilence } from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';

/** What every judgement of one answer shares. */
export interface Surroundings {
  /** Cursor of the changes, taken before any fact was read. */
  readonly revision: string;
  readonly now: Instant;
  /** In force now. */
  readonly silences: readonly StoredSilence[];
}

export async function readSurroundings({ store }: Pick<RouteDeps, 'store'>): Promise<Surroundings> {
  const now = store.now();
  const [revision, silences] = await Promise.all([readRevision(store), listSilences(store, now)]);
  return {
    revision,
    now,
    silences: silences.filter((silence) => isInForce(silence, now)),
  };
}

/** The newest change that is known. */
export async function readRevision(store: RouteDeps['store']): Promise<string> {
  return String((await findChangeBounds(store))?.newest ?? 0);
}
