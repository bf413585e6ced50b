import type { Clock } from '@cronjob-monitor/shared/process';

/** Reads something of CronJobs by their ids; one of which nothing is found is missing. */
export type ReadFacts<T> = (ids: readonly number[]) => Promise<ReadonlyMap<number, T>>;

/** Facts of CronJobs, read once while nothing changes. */
export interface KeptFacts<T> {
  /** Facts of these, no older than what was forgotten before. Only those of CronJobs that are known are kept. */
  read(ids: readonly number[], isKnown: (id: number) => boolean): Promise<ReadonlyMap<number, T | undefined>>;
  /** They are read again before they are given. */
  forget(ids: readonly number[]): void;
  /** The same of all. */
  forgetAll(): void;
}

/** All are read anew every 10 minutes, and so with each UTC day. */
const allEveryMs = 600_000;

export function createKeptFacts<T>(clock: Clock, read: ReadFacts<T>): KeptFacts<T> {
  /** Counted from 1970. */
  let period: number | undefined;
  let known = new Map<number, T | undefined>();
  /** How many times something was forgotten, and of each CronJob the last time. */
  let times = 0;
  let allForgottenAt = 0;
  const forgottenAt = new Map<number, number>();
  let turn: Promise<unknown> = Promise.resolve();

  async function readMissing(ids: readonly number[], isKnown: (id: number) => boolean): Promise<typeof known> {
    const periodNow = Math.floor(clock.now() / allEveryMs);
    if (period !== periodNow) {
      period = periodNow;
      known = new Map();
    }
    const kept = known;
    const missing = ids.filter((id) => !kept.has(id));
    const facts = new Map(ids.map((id) => [id, kept.get(id)]));
    if (missing.length === 0) return facts;
    const begunAt = times;
    const fresh = await read(missing);
    for (const id of missing) {
      const found = fresh.get(id);
      facts.set(id, found);
      // What was forgotten meanwhile may have been read before it changed.
      const isCurrent = Math.max(allForgottenAt, forgottenAt.get(id) ?? 0) <= begunAt;
      if (isCurrent && isKnown(id)) kept.set(id, found);
    }
    return facts;
  }

  return {
    read(ids, isKnown) {
      const asked = turn.then(() => readMissing(ids, isKnown));
      turn = asked.catch(() => {}); // the caller meets the error
      return asked;
    },
    forget(ids) {
      times++;
      for (const id of ids) {
        forgottenAt.set(id, times);
        known.delete(id);
      }
    },
    forgetAll() {
      allForgottenAt = ++times;
      forgottenAt.clear();
      known = new Map();
    },
  };
}
