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
  /** In whose evening and morning it looks. */
  readonly zone: string;
}

/** A forecast is made so long after 18:00 at most: of what is left of a night later no share is worth a score. */
const keptWithinMs = hourMs;
/** A night is judged so long after its begin at most: by then runs of it may be gone. */
const judgedWithinMs = 36 * hourMs;

/** No risk that is scored says who hears of a failure. */
const heard: Heard = { state: 'reached', reason: undefined, channels: [] };

/**
 * Keeps at 18:00 what is foreseen of the runs until 06:00, and judges it then. The rows of a night say what of it is done, so that it is
 * done once whichever leaders come.
 *
 * A leader that comes late keeps a forecast until 19:00, from its own minute on: what failed before is not counted. Later the night is left
 * out of the score. A night that is over is judged as soon as a leader is there, within 36 hours of its begin, else never.
 */
export class Nights {
  readonly #deps: LeaderOfNights;
  /** Until then there is nothing to do. */
  #dueAt: Instant = -Infinity;

  constructor(deps: LeaderOfNights) {
    this.#deps = deps;
  }

  /** Does what has come due. What throws is done at the next look. */
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
