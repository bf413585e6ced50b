import {
  dailyInstants,
  floorTo,
  lastNight,
  nightFrom,
  planRuns,
  type Heard,
  type Instant,
  type Night,
  minuteMs,
  hourMs,
} from '@cronjob-monitor/shared/domain';
import type { Logger } from '@cronjob-monitor/shared/process';
import {
  foreseeRuns,
  judgeForecasts,
  keepForecasts,
  listOutlines,
  listUnjudgedNights,
  readEndedRuns,
  type Forecast,
  type Store,
} from '@cronjob-monitor/shared/store';

interface LeaderOfNights {
  readonly store: Store;
  readonly epoch: number;
  readonly logger: Logger;
  /** Time zone of the evening and the morning. */
  readonly zone: string;
}

/** A forecast is made within this time after 18:00: a later one would cover too little of the night to be scored. */
const keptWithinMs = hourMs;
/** A night is judged within this time after its begin: later its runs may be pruned. */
const judgedWithinMs = 36 * hourMs;

/** The score leaves out the risk that no channel is told, so every forecast counts as heard. */
const heard: Heard = { state: 'reached', reason: undefined, channels: [] };

/**
 * Stores at 18:00 the forecasts of the runs until 06:00, and judges them then. The rows of a night say which step is done, so each step is
 * done once across leaders.
 *
 * A late leader stores a forecast until 19:00, from its own minute on: earlier failures are not counted. After 19:00 the night is left out
 * of the score. A night that is over is judged by the first leader within 36 hours of its begin, else never.
 */
export class Nights {
  readonly #deps: LeaderOfNights;
  /** The next look before this instant returns at once. */
  #dueAt: Instant = -Infinity;

  constructor(deps: LeaderOfNights) {
    this.#deps = deps;
  }

  /** Does the step that is due. A step that throws is repeated at the next look. */
  async look(now: Instant): Promise<void> {
    if (now < this.#dueAt) return;
    const { zone } = this.#deps;
    const night = lastNight(zone, now);
    await this.#judge(now);
    if (now < Math.min(night.untilAt, night.fromAt + keptWithinMs)) await this.#keep(night, now);
    this.#dueAt = Math.min(...['06:00', '18:00'].map((time) => dailyInstants(time, zone, now).nextAt));
  }

  async #keep({ fromAt: nightAt, untilAt }: Night, now: Instant): Promise<void> {
    const { store, epoch, logger } = this.#deps;
    const keptAt = floorTo(minuteMs, now);
    const forecasts = await this.#foresee(keptAt, untilAt);
    const isKept = await store.fenced(epoch, (tx) => keepForecasts(tx, { nightAt, keptAt }, forecasts));
    if (!isKept) return;
    const atRisk = new Set(forecasts.map(({ cronJobId }) => cronJobId)).size;
    logger.info('what is foreseen of the night is kept', { atRisk });
  }

  async #foresee(keptAt: Instant, untilAt: Instant): Promise<Forecast[]> {
    const { store, zone } = this.#deps;
    const outlines = await listOutlines(store, { kinds: ['CronJob'] });
    const plan = planRuns(outlines, { from: keptAt - 1, until: untilAt }, zone);
    const sources = { ended: readEndedRuns(store, () => keptAt), defaultTimeZone: zone };
    const foreseen = await foreseeRuns(store, plan, sources, () => Promise.resolve(() => heard));
    return foreseen.flatMap(({ planned, risks }) =>
      risks.map(({ code, level }) => ({ cronJobId: planned.cronJob.id, code, level })),
    );
  }

  async #judge(now: Instant): Promise<void> {
    const { store, epoch, logger, zone } = this.#deps;
    for (const nightAt of await listUnjudgedNights(store, now - judgedWithinMs)) {
      const night = nightFrom(zone, nightAt);
      if (night.untilAt > now) continue;
      const isJudged = await store.fenced(epoch, (tx) => judgeForecasts(tx, night));
      if (isJudged) logger.info('what was foreseen of the night is judged', { nightAt });
    }
  }
}
