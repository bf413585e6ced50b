import type { CoverageState } from './coverage.ts';
import type { Words } from './verdict.ts';
import type { Ref, WireInstant } from './wire.ts';

/**
 * Why a run to come may end badly. `repeats`: its last runs failed alike. `cannot`: nothing of it can start. `rate`: some of its runs fail.
 * `limit`: it takes longer than it may. `overlap`: it runs into its own next start. `lint`: a change of the clocks moves a run.
 * `deaf`: if it fails, no channel is told.
 */
export const riskCodes = ['repeats', 'cannot', 'rate', 'limit', 'overlap', 'lint', 'deaf'] as const;
export type RiskCode = (typeof riskCodes)[number];

export const riskLevels = ['likely', 'possible'] as const;
export type RiskLevel = (typeof riskLevels)[number];

export interface Risk {
  readonly code: RiskCode;
  readonly level: RiskLevel;
  readonly words: Words;
}

/** A CronJob with a run to come that may end badly. */
export interface TonightItem {
  readonly cronjob: Ref;
  /** Its first runs by then, at most 100; none when the schedule cannot be read. */
  readonly at: readonly WireInstant[];
  /** Runs by then, those that `at` leaves out among them. */
  readonly runs: number;
  /** What a run takes: the median and the 95th percentile of its last 100 successes; null = none was measured. */
  readonly expectedSeconds: number | null;
  readonly p95Seconds: number | null;
  /** Likely ones first. */
  readonly risks: readonly Risk[];
  /** Who would hear of a failed run. */
  readonly told: {
    readonly state: CoverageState;
    readonly channels: readonly string[];
    readonly words: string;
  };
}

/** GET /api/v1/tonight */
export interface Tonight {
  readonly from: WireInstant;
  readonly until: WireInstant;
  /** `night`: until 06:00 of the zone; `day`: until 22:00; `asked`: until the instant that was asked for. */
  readonly span: TonightSpan;
  /** With a run by then. */
  readonly cronjobs: number;
  readonly runs: number;
  /** CronJobs with a risk. `items` is cut to its first `limit`. */
  readonly atRisk: number;
  /** Starts in each quarter of an hour, of CronJobs that run at most once in 15 min; quarters without a start are there too. */
  readonly starts: readonly { readonly at: WireInstant; readonly runs: number }[];
  /** Likely risks first, then by the first run. */
  readonly items: readonly TonightItem[];
  /** CronJobs with a run by then and without a risk. */
  readonly calm: number;
}

export const tonightSpans = ['night', 'day', 'asked'] as const;
export type TonightSpan = (typeof tonightSpans)[number];
