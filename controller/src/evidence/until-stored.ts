import type { Clock } from '@cronjob-monitor/shared/process';
import { Batches } from '../runtime/index.ts';
import { createReadPool } from './read-pool.ts';

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

const mostSorted = 100;

/**
 * When it is the turn of a run that an earlier leader has recorded. The API server answers few requests a second, and most of these runs
 * were taken long ago: what a message waits for is taken at once, the others one after the other, so that what ends now waits for none of
 * them. `onlyAwaited`: a run that no message waits for is left alone. Resolves when the run is taken, or left.
 */
export function createTakingAgain<R>({
  findAwaited,
  take,
  signal,
}: {
  /** Those of these runs of which a message waits. */
  readonly findAwaited: (runs: readonly R[]) => Promise<ReadonlySet<R>>;
  /** Resolves when everything of the run is taken. */
  readonly take: (run: R) => Promise<void>;
  readonly signal: AbortSignal;
}): (run: R, onlyAwaited?: boolean) => Promise<void> {
  const line = createReadPool({ concurrency: 1, perNode: 1 });
  const awaited = new Set<R>();
  const sorting = new Batches<R>(mostSorted, async (runs) => {
    // If it is unknown, each may be one that is waited for.
    const found = await findAwaited(runs).catch(() => runs);
    for (const run of found) awaited.add(run);
  });
  return async (run, onlyAwaited = false) => {
    await sorting.add(run);
    if (awaited.delete(run)) await take(run);
    else if (!onlyAwaited) await line.run('', () => take(run), signal);
  };
}
