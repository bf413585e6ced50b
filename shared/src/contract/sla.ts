import type { SlaSubject, SlaTargetVerdict } from './vocabulary.ts';
import type { Verdict } from './verdict.ts';
import type { List, Percent, Ref } from './wire.ts';

/** One target: a monitor, a CronJob and a subject. */
export interface SlaTarget {
  readonly cronjob: Ref;
  readonly monitor: Ref;
  readonly subject: SlaSubject;
  readonly verdict: SlaTargetVerdict;
  readonly judged: Verdict;
  /** In `unit`; null for finishBy. */
  readonly target: number | null;
  /** Of `maxDuration` the longest run of the window, the running ones among them. */
  readonly current: number | null;
  readonly unit: 'percent' | 'seconds' | null;
  /** `06:00 Europe/Berlin`. */
  readonly finishBy: string | null;
  readonly windowDays: number;
  readonly success: number | null;
  readonly runs: number | null;
  readonly previous: Percent | null;
  readonly previousSuccess: number | null;
  readonly previousRuns: number | null;
  /** Failed runs until it breaches, 0 = the next one does; null = breached. */
  readonly failuresLeft: number | null;
  readonly budget: SlaBudget | null;
  /** By UTC day, the newest last; null = nothing ran. Of 30 days in a page, else null. */
  readonly daily: readonly (SlaDay | null)[] | null;
  readonly alertId: string | null;
}

/** One day: the rate of its runs in percent, or the longest success of the day in seconds. */
export interface SlaDay {
  readonly value: number;
  /** Below the target, or over the limit. */
  readonly isBroken: boolean;
}

/**
 * What a target allows and how much of that is used. Of a rate: runs of the window x (100 % - target), in failed runs; of a longest
 * duration its limit, in seconds. Null for targets that have no such sum: without a run, at a rate of 0 %, and for the other subjects.
 */
export interface SlaBudget {
  readonly allowed: number;
  readonly burnt: number;
  /** Below 0: so much is over. */
  readonly left: number;
  /** 100 = all of it; null = nothing was allowed, and something is burnt. */
  readonly burntPercent: number | null;
  /** How many days what is left of a rate's budget lasts while runs fail as often as in the window; null = it is spent, or nothing fails. */
  readonly daysLeft: number | null;
}

/** GET /api/v1/sla */
export interface SlaList extends List<SlaTarget> {
  readonly summary: Readonly<Record<SlaTargetVerdict, number>>;
}

export const slaSortKeys = ['verdict', 'name', 'namespace', 'failuresLeft', 'margin'] as const;
export type SlaSortKey = (typeof slaSortKeys)[number];
