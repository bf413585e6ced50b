import type { Clock } from '@cronjob-monitor/shared/process';
import { Batches } from '../runtime/index.ts';
import { createReadPool } from './read-pool.ts';

/** `size`: characters that the work keeps in memory for as long as it waits. */
export type UntilStored = <T>(size: number, work: () => Promise<T>) => Promise<T>;

/** Characters of all waiting work: many failures in an outage must not fill the memory. */
const mostCharacters = 32 * 1024 * 1024;
const firstWaitMs = 1_000;
const mostWaitMs = 30_000;

/**
 * Repeats a write until the database takes it, so that a slow or absent database loses no evidence. Rejects as the work does for another
 * error or when more than `limit` characters wait already, and with the reason of an aborted signal.
 */
export function createUntilStored(
  {
    isAway,
    clock,
    signal,
  }: {
    /** Whether the database is away, so that the work may succeed later. */
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
 * Schedules the runs that an earlier leader recorded. The API server answers few requests a second, and the evidence of most of these runs
 * was taken long ago: a run for which a message waits is taken at once, the others one after the other, so that they do not delay runs that
 * end now. `onlyAwaited`: skips a run for which no message waits. Resolves when the run is taken or skipped.
 */
export function createTakingAgain<R>({
  findAwaited,
  take,
  signal,
}: {
  /** Of these runs, those for which a message waits. */
  readonly findAwaited: (runs: readonly R[]) => Promise<ReadonlySet<R>>;
  /** Resolves when all evidence of the run is taken. */
  readonly take: (run: R) => Promise<void>;
  readonly signal: AbortSignal;
}): (run: R, onlyAwaited?: boolean) => Promise<void> {
  const line = createReadPool({ concurrency: 1, perNode: 1 });
  const awaited = new Set<R>();
  const sorting = new Batches<R>(mostSorted, async (runs) => {
    // Without an answer a message may wait for each of them.
    const found = await findAwaited(runs).catch(() => runs);
    for (const run of found) awaited.add(run);
  });
  return async (run, onlyAwaited = false) => {
    await sorting.add(run);
    if (awaited.delete(run)) await take(run);
    else if (!onlyAwaited) await line.run('', () => take(run), signal);
  };
}
