import type { Clock } from '@cronjob-monitor/shared/process';

/** `size`: characters that the work keeps in memory for as long as it waits. */
export type UntilStored = <T>(size: number, work: () => Promise<T>) => Promise<T>;

/** Characters of all that waits: many failures in an outage must not fill the memory. */
const mostCharacters = 32 * 1024 * 1024;
const firstWaitMs = 1_000;
const mostWaitMs = 30_000;

/**
 * Repeats what is to be written until the database takes it: one that is slow or away for a while loses nothing. Rejects as the work does
 * when something else is wrong, or when more than `limit` characters wait already, and with the reason of an aborted signal.
 */
export function createUntilStored(
  {
    isAway,
    clock,
    signal,
  }: {
    /** Nothing is wrong with the work: it waits for the database. */
    readonly isAway: (error: unknown) => boolean;
    readonly clock: Pick<Clock, 'sleep'>;
    readonly signal: AbortSignal;
  },
  limit: number = mostCharacters,
): UntilStored {
  let held = 0;
  return async (size, work) => {
    let counted = 0;
    try {
      for (let waitMs = firstWaitMs; ; waitMs = Math.min(mostWaitMs, 2 * waitMs)) {
        try {
          // One try after the other.
          return await work();
        } catch (error) {
          signal.throwIfAborted();
          if (!isAway(error)) throw error;
          if (counted === 0) {
            if (held + size > limit) throw error;
            counted = size;
            held += size;
          }
          await clock.sleep(waitMs, signal);
        }
      }
    } finally {
      held -= counted;
    }
  };
}
