import type { CronJobFacts } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { FleetFigures } from './fleet-figures.ts';
import type { DeliveryMetrics, ProductMetrics, VerdictMetrics } from '../metrics/index.ts';
import type { Selection } from '../selection/index.ts';
import type { Move } from '@cronjob-monitor/shared/store';

/** Keeps series in step with what is there while a replica leads. */
interface SeriesUpkeep {
  /** Until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** A CronJob is gone, selected no more, or not at all: gauges and coverage follow within a second. */
  readonly tidySoon: () => void;
}

const tidyEveryMs = 60_000;
const countEveryMs = 5_000;
/** What other processes write moves no mark of this one. */
const countAtLeastEveryMs = 60_000;
const lookEveryMs = 1_000;

export function createSeriesUpkeep(deps: {
  readonly cronJobs: { values(): Iterable<CronJobFacts> };
  readonly selection: Pick<Selection, 'isMonitored'>;
  readonly figures: Pick<FleetFigures, 'measureFleet' | 'measureCoverage' | 'measureCleared' | 'forgetVanished'>;
  readonly moves: Pick<Moves, 'mark'>;
  readonly productMetrics: ProductMetrics;
  readonly verdictMetrics: VerdictMetrics;
  readonly deliveryMetrics: DeliveryMetrics;
  /** The database is away, and all wait for it. */
  readonly isAway: (error: unknown) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}): SeriesUpkeep {
  const { clock, selection } = deps;
  let isAsked = false;
  let countedMark: number | undefined;
  let recountAtMs = -Infinity;

  return {
    async run(signal) {
      let tidyAtMs = -Infinity;
      let countAtMs = -Infinity;
      while (!signal.aborted) {
        const nowMs = clock.monotonicMs();
        if (isAsked || nowMs >= tidyAtMs) {
          isAsked = false;
          tidyAtMs = nowMs + tidyEveryMs;
          tidy(nowMs);
          await count(() => deps.figures.measureCoverage());
        }
        if (nowMs >= countAtMs) {
          countAtMs = nowMs + countEveryMs;
          await count(() => countMoved(nowMs));
          await count(() => deps.figures.measureCleared(clock.now()));
        }
        await clock.sleep(lookEveryMs, signal).catch(() => {});
      }
    },
    tidySoon() {
      isAsked = true; // many go together: they are let go together
    },
  };

  function tidy(nowMs: number): void {
    const watched = new Set<string>();
    for (const { uid, namespace, name } of deps.cronJobs.values())
      if (selection.isMonitored(uid)) watched.add(`${namespace}/${name}`);
    const isWatched = (of: { readonly namespace: string; readonly name: string }): boolean =>
      watched.has(`${of.namespace}/${of.name}`);
    deps.productMetrics.forgetVanished(isWatched, nowMs);
    deps.deliveryMetrics.forgetVanished(isWatched, nowMs);
    deps.verdictMetrics.forgetVanished(isWatched);
    deps.figures.forgetVanished(deps.cronJobs.values());
  }

  /** Counts the fleet when a commit moved something since it was counted last, and after a while anyway. */
  async function countMoved(nowMs: number): Promise<void> {
    const { mark } = deps.moves;
    if (mark === countedMark && nowMs < recountAtMs) return;
    await deps.figures.measureFleet();
    countedMark = mark;
    recountAtMs = nowMs + countAtLeastEveryMs;
  }

  async function count(measure: () => Promise<void>): Promise<void> {
    try {
      await measure();
    } catch (error) {
      if (!deps.isAway(error)) deps.logger.warn('the fleet could not be counted and is counted again', { error });
    }
  }
}

/** Alerts whose namespace is known: more of them are forgotten, which costs a look. */
const mostAlerts = 20_000;

/**
 * Where something changed, by the commits of this process: figures of what did not move need not be asked again. What other processes
 * write, such as an acknowledgement, it does not hear of: a reader that counts on it looks again from time to time.
 */
export class Moves {
  #mark = 0;
  readonly #lastIn = new Map<string, number>();
  #lastAnywhere = 0;
  readonly #namespaceOf = new Map<string, string>();

  /** To be told of what each commit moved. */
  readonly take = (moves: readonly Move[]): void => {
    this.#mark++;
    for (const { namespace, alertId } of moves) {
      if (namespace !== undefined && alertId !== undefined) this.#remember(alertId, namespace);
      const where = namespace ?? this.#namespaceOf.get(alertId ?? '');
      if (where === undefined) this.#lastAnywhere = this.#mark;
      else this.#lastIn.set(where, this.#mark);
    }
  };

  /** Another one after each commit that moved something; to be read before what is to be kept is read. */
  get mark(): number {
    return this.#mark;
  }

  /** Whether something moved after the mark in one of these namespaces, or somewhere unknown. */
  isMoved(mark: number, namespaces: ReadonlySet<string>): boolean {
    if (this.#lastAnywhere > mark) return true;
    for (const namespace of namespaces) if ((this.#lastIn.get(namespace) ?? 0) > mark) return true;
    return false;
  }

  #remember(alertId: string, namespace: string): void {
    if (this.#namespaceOf.size >= mostAlerts) this.#namespaceOf.clear();
    this.#namespaceOf.set(alertId, namespace);
  }
}
