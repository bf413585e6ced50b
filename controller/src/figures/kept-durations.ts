import { type Instant, dayMs } from '@cronjob-monitor/shared/domain';
import { measureDurationsOfEach, type DurationFigures, type Store } from '@cronjob-monitor/shared/store';

/** A CronJob whose durations are asked: `runs` of it succeeded in the window, as they were counted just now. */
interface DurationsAsked {
  readonly cronJobId: number;
  readonly runs: number;
}

const freshMs = 5 * 60_000;
/** As long as no run was added, so much may have left the window. */
const unchangedMs = 3_600_000;
const mostKept = 50_000;

/**
 * Durations over a window of days, asked again and again by statuses and metrics: they are read again when runs were added, every
 * five minutes at most, and once an hour in any case.
 */
export class KeptDurations {
  readonly #store: Store;
  readonly #kept = new Map<
    string,
    { readonly figures: DurationFigures | undefined; readonly runs: number; readonly at: Instant }
  >();

  constructor(store: Store) {
    this.#store = store;
  }

  /** A CronJob without a run that has a duration is absent. */
  async measure(
    asked: readonly DurationsAsked[],
    windowDays: number,
    now: Instant,
  ): Promise<ReadonlyMap<number, DurationFigures>> {
    const keyOf = (cronJobId: number): string => `${windowDays} ${cronJobId}`;
    const withRuns = asked.filter(({ runs }) => runs > 0);
    const stale = withRuns.filter(({ cronJobId, runs }) => !this.#isFresh(keyOf(cronJobId), runs, now));
    const window = { from: now - windowDays * dayMs, to: now };
    const wanted = stale.map(({ cronJobId, runs }) => ({ cronJobId, rows: runs }));
    const measured = await measureDurationsOfEach(this.#store, wanted, window);
    for (const { cronJobId, runs } of stale)
      this.#kept.set(keyOf(cronJobId), { figures: measured.get(cronJobId), runs, at: now });
    const figures = withRuns.flatMap(({ cronJobId }) => {
      const ofOne = this.#kept.get(keyOf(cronJobId))?.figures;
      return ofOne ? [[cronJobId, ofOne] as const] : [];
    });
    if (this.#kept.size > mostKept) this.#kept.clear();
    return new Map(figures);
  }

  #isFresh(key: string, runs: number, now: Instant): boolean {
    const known = this.#kept.get(key);
    if (!known || now < known.at) return false;
    return now - known.at < (known.runs === runs ? unchangedMs : freshMs);
  }
}
