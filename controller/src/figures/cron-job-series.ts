import { refText, type Ref } from '@cronjob-monitor/shared/contract';
import { hourMs, minuteMs, type CronJobFacts } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { DeliveryMetrics, ProductMetrics, SlaMetrics, VerdictMetrics } from '../metrics/index.ts';
import type { Selection } from '../selection/index.ts';
import type { FleetFigures } from './fleet-figures.ts';
import type { Moves } from './moves.ts';

/** So long a counter outlives its CronJob: the last increment is scraped by then. */
const keptForMs = hourMs;
const coverEveryMs = minuteMs;
const countEveryMs = 5_000;
/** What other processes write moves no mark of this one. */
const countAtLeastEveryMs = minuteMs;
const lookEveryMs = 1_000;

/** Ends series of single CronJobs, and counts the fleet, while a replica leads. A CronJob is looked at when it may have gone, or be watched by others. */
export class CronJobSeries {
  readonly #deps;
  /** To be looked at with the next look. */
  readonly #asked = new Map<string, Ref>();
  /** Looked at each minute: since when it is gone; undefined: a monitor that was deleted a moment ago may come back for it. */
  readonly #leaving = new Map<string, { readonly cronJob: Ref; readonly goneAtMs: number | undefined }>();
  #isCovered = false;

  constructor(deps: {
    readonly cronJobs: { findByName(namespace: string, name: string): CronJobFacts | undefined };
    readonly selection: Pick<Selection, 'monitorsOf' | 'isMonitored' | 'findCronJob'>;
    readonly figures: Pick<FleetFigures, 'measureFleet' | 'measureCoverage' | 'measureCleared' | 'selectedBy'>;
    readonly moves: Pick<Moves, 'mark'>;
    readonly productMetrics: ProductMetrics;
    readonly verdictMetrics: VerdictMetrics;
    readonly deliveryMetrics: DeliveryMetrics;
    readonly slaMetrics: SlaMetrics;
    /** The database is away, and all wait for it. */
    readonly isAway: (error: unknown) => boolean;
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    this.#deps = deps;
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, figures } = this.#deps;
    this.#begin();
    let [leavingAtMs, coverAtMs, countAtMs, recountAtMs] = [-Infinity, -Infinity, -Infinity, -Infinity];
    let countedMark: number | undefined;
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs();
      for (const cronJob of this.#asked.values()) this.#look(cronJob, nowMs);
      this.#asked.clear();
      if (nowMs >= leavingAtMs) {
        leavingAtMs = nowMs + minuteMs;
        // What is looked at may be left to a later look.
        const leaving = [...this.#leaving.values()];
        for (const { cronJob } of leaving) this.#look(cronJob, nowMs);
      }
      if (!this.#isCovered || nowMs >= coverAtMs) {
        this.#isCovered = true;
        coverAtMs = nowMs + coverEveryMs;
        await this.#count(() => figures.measureCoverage());
      }
      if (nowMs >= countAtMs) {
        countAtMs = nowMs + countEveryMs;
        const { mark } = this.#deps.moves;
        // The fleet is counted when a commit moved something since it was counted last, and after a while anyway.
        if (mark !== countedMark || nowMs >= recountAtMs)
          await this.#count(async () => {
            await figures.measureFleet();
            countedMark = mark;
            recountAtMs = nowMs + countAtLeastEveryMs;
          });
        await this.#count(() => figures.measureCleared(clock.now()));
      }
      await clock.sleep(lookEveryMs, signal).catch(() => {});
    }
  }

  /** These CronJobs are gone, or selected by others or by none: gauges and coverage follow within a second. */
  ask(cronJobUids: readonly string[]): void {
    this.#isCovered = false;
    for (const uid of cronJobUids) {
      const cronJob = this.#deps.selection.findCronJob(uid);
      if (cronJob) this.#ask(cronJob);
    }
  }

  /** What series a term before this one left is looked at once. */
  #begin(): void {
    const { productMetrics, verdictMetrics, deliveryMetrics, slaMetrics } = this.#deps;
    for (const metrics of [productMetrics, verdictMetrics, deliveryMetrics, slaMetrics]) {
      metrics.onNamed = (cronJob) => this.#ask(cronJob);
      for (const cronJob of metrics.named()) this.#ask(cronJob);
    }
  }

  #ask({ namespace, name }: Ref): void {
    this.#asked.set(refText({ namespace, name }), { namespace, name });
  }

  #look(cronJob: Ref, nowMs: number): void {
    const { cronJobs, selection, figures, verdictMetrics, productMetrics, deliveryMetrics } = this.#deps;
    const { namespace, name } = cronJob;
    const key = refText(cronJob);
    const facts = cronJobs.findByName(namespace, name);
    const monitors = facts ? selection.monitorsOf(facts) : [];
    figures.selectedBy(cronJob, monitors);
    const goneAtMs = this.#leaving.get(key)?.goneAtMs ?? nowMs;
    this.#leaving.delete(key);
    if (monitors.length > 0) return;
    if (facts && selection.isMonitored(facts.uid)) return void this.#leaving.set(key, { cronJob, goneAtMs: undefined });
    verdictMetrics.forget(cronJob);
    if (nowMs - goneAtMs < keptForMs) return void this.#leaving.set(key, { cronJob, goneAtMs });
    productMetrics.forget(cronJob);
    deliveryMetrics.forget(cronJob);
  }

  async #count(measure: () => Promise<void>): Promise<void> {
    try {
      await measure();
    } catch (error) {
      if (!this.#deps.isAway(error))
        this.#deps.logger.warn('the fleet could not be counted and is counted again', { error });
    }
  }
}
