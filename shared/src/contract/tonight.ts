import { coverageStates, riskLevels } from './vocabulary.ts';
import { count, instant, listOf, nullable, object, type Of, seconds, text, words } from './shape/shape.ts';
import { Ref } from './wire.ts';

/**
 * Why a run to come may end badly. `repeats`: its last runs failed alike. `cannot`: nothing of it can start. `rate`: some of its runs fail.
 * `limit`: it takes longer than it may. `overlap`: it runs into its own next start. `lint`: a change of the clocks moves a run.
 * `deaf`: if it fails, no channel is told.
 */
const riskCodes = ['repeats', 'cannot', 'rate', 'limit', 'overlap', 'lint', 'deaf'] as const;

export const Risk = object({ code: words(riskCodes), level: words(riskLevels), words: text });
export type Risk = Of<typeof Risk>;

/** A CronJob with a run to come that may end badly. */
export const TonightItem = object({
  cronjob: Ref,
  /** Its first runs by then, at most 100; none when the schedule cannot be read. */
  at: listOf(instant, 100),
  /** Runs by then, those that `at` leaves out among them. */
  runs: count,
  /** What a run takes: the median and the 95th percentile of its last 20 successes; null = none was measured. */
  expectedSeconds: nullable(seconds),
  p95Seconds: nullable(seconds),
  /** Likely ones first. */
  risks: listOf(Risk),
  /** Who would hear of a failed run. */
  told: object({ state: words(coverageStates), channels: listOf(text), words: text }),
});
export type TonightItem = Of<typeof TonightItem>;

const tonightSpans = ['night', 'day', 'asked'] as const;

/** GET /api/v1/tonight */
export const Tonight = object('Tonight', {
  from: instant,
  until: instant,
  /** `night`: until 06:00 of the zone; `day`: until 22:00; `asked`: until the instant that was asked for. */
  span: words(tonightSpans),
  /** With a run by then. */
  cronjobs: count,
  runs: count,
  /** CronJobs with a risk. `items` is cut to its first `limit`. */
  atRisk: count,
  /** Starts in each quarter of an hour, of CronJobs that run at most once in 15 min; quarters without a start are there too. */
  starts: listOf(object({ at: instant, runs: count })),
  /** Likely risks first, then by the first run. */
  items: listOf(TonightItem),
  /** CronJobs with a run by then and without a risk. */
  calm: count,
  /**
   * Of the last 30 days, how well nights were foreseen at 18:00 of `cluster.default-time-zone`: CronJobs with a failed or missed run until 06:00,
   * those of them with a risk other than `deaf`, and those with a likely one and no such run. `nights`: so many were judged.
   */
  score: object({ nights: count, failures: count, foreseen: count, false: count }),
});
export type Tonight = Of<typeof Tonight>;
export type TonightSpan = (typeof tonightSpans)[number];
