import { Batches } from '../runtime/index.ts';
import { createReadPool } from './read-pool.ts';

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
