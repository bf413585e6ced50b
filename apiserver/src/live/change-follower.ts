import type { Instant } from '@cronjob-monitor/shared/domain';
import { findChangeBounds, listChanges, type NumberedChange, type Store } from '@cronjob-monitor/shared/store';

/** A transaction that took a number and has not committed within this time will not be waited for. */
const settledAfterMs = 5_000;
/** Changes of one question. */
const perQuestion = 1_000;

/** Follows the table of changes: each is given once, also one that commits after later numbers have. */
export interface ChangeFollower {
  /** The newest number that was seen; 0 before the first. */
  cursor(): number;
  /** Changes since the last call, by number. The first call returns no change and sets the position. */
  next(): Promise<readonly NumberedChange[]>;
}

export function createChangeFollower(store: Store): ChangeFollower {
  /** Every number up to here is seen or given up. */
  let floor: number | undefined;
  let newest = 0;
  /** Seen numbers above the floor, and when each was written. */
  const seen = new Map<number, Instant>();

  async function takePlace(): Promise<void> {
    const bounds = await findChangeBounds(store);
    newest = bounds?.newest ?? 0;
    floor = newest;
    const recent = await listChanges(store, { id: Math.max(0, newest - perQuestion), limit: perQuestion });
    const unsettled = recent.filter(({ at, id }) => at > store.now() - settledAfterMs && id <= newest);
    if (!unsettled[0]) return;
    floor = unsettled[0].id - 1;
    for (const { id, at } of unsettled) seen.set(id, at);
    settle();
  }

  /** Raises the floor over what is seen, and over gaps that are too old to be filled. */
  function settle(): void {
    for (const [id, at] of [...seen].sort(([a], [b]) => a - b)) {
      const isNext = id === (floor ?? 0) + 1;
      if (!isNext && at > store.now() - settledAfterMs) return;
      floor = id;
      seen.delete(id);
    }
  }

  return {
    cursor: () => newest,
    async next() {
      if (floor === undefined) {
        await takePlace();
        return [];
      }
      const fresh: NumberedChange[] = [];
      for (let after = floor; ;) {
        const page = await listChanges(store, { id: after, limit: perQuestion });
        for (const change of page) {
          if (seen.has(change.id)) continue;
          seen.set(change.id, change.at);
          fresh.push(change);
        }
        const last = page.at(-1);
        if (!last || page.length < perQuestion) break;
        after = last.id;
      }
      newest = Math.max(newest, fresh.at(-1)?.id ?? 0);
      settle();
      return fresh;
    },
  };
}
