import type { Clock } from '../process/index.ts';
import type { Db } from './database.ts';

const everyMs = 10_000;
const samples = 3;

export interface ClockOffset {
  /** Database clock minus ours, milliseconds; undefined before the first measurement, and for ever in SQLite. */
  readonly currentMs: () => number | undefined;
  /** Measures now. Throws what the database throws. */
  readonly measure: (db: Db) => Promise<void>;
  /** Measures again every 10 s, once there is a first measurement. One that fails leaves the last one standing. */
  readonly start: (db: Db, signal: AbortSignal) => void;
}

/**
 * How far the database's clock is from ours: the middle of the round trip, the shortest of three (high-availability.md
 * section 9).
 */
export function createClockOffset(clock: Clock): ClockOffset {
  /** Their clock minus our monotonic one: our wall clock may be set between two measurements, and nothing is early or late for it. */
  let aheadMs: number | undefined;

  const measure = async (db: Db): Promise<void> => {
    let shortestMs = Infinity;
    let best: number | undefined;
    for (let sample = 0; sample < samples; sample++) {
      const startedMs = clock.monotonicMs();
      const theirs = await db.dialect.now(db);
      const tookMs = clock.monotonicMs() - startedMs;
      if (theirs === undefined) return;
      if (tookMs < shortestMs) {
        shortestMs = tookMs;
        best = theirs - (startedMs + tookMs / 2);
      }
    }
    if (best !== undefined) aheadMs = best;
  };

  const start = (db: Db, signal: AbortSignal): void => {
    clock.every(
      everyMs,
      async () => {
        // While the database is away the last offset is the best there is; the probe says that it is away.
        if (aheadMs !== undefined) await measure(db).catch(() => {});
      },
      signal,
    );
  };

  const currentMs = (): number | undefined =>
    aheadMs === undefined ? undefined : Math.round(aheadMs + clock.monotonicMs()) - clock.now();

  return { currentMs, measure, start };
}
