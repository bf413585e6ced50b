import {
  bool,
  count,
  extended,
  id,
  int,
  listOf,
  named,
  nullable,
  number,
  object,
  type Of,
  percent,
  text,
  words,
} from './shape/index.ts';
import { Verdict } from './verdict.ts';
import { slaSubjects, slaTargetVerdicts } from './vocabulary.ts';
import { listFields, Ref } from './wire.ts';

/**
 * What a target allows and how much of that is used. Of a rate: runs of the window x (100 % - target), in failed runs; of a longest
 * duration its limit, in seconds. Null for targets that have no such sum: without a run, at a rate of 0 %, and for the other subjects.
 */
export const SlaBudget = object('SlaBudget', {
  allowed: number,
  burnt: number,
  /** Below 0: so much is over. */
  left: number,
  /** 100 = all of it; null = nothing was allowed, and something is burnt. */
  burntPercent: nullable(number),
  /** How many days what is left of a rate's budget lasts while runs fail as often as in the window; null = it is spent, or nothing fails. */
  daysLeft: nullable(number),
});
export type SlaBudget = Of<typeof SlaBudget>;

/** One day: the rate of its runs in percent, or the longest success of the day in seconds. */
export const SlaDay = object('SlaDay', {
  value: number,
  /** Below the target, or over the limit. */
  isBroken: bool,
});
export type SlaDay = Of<typeof SlaDay>;

/** One target: a monitor, a CronJob and a subject. */
export const SlaTarget = object('SlaTarget', {
  cronjob: Ref,
  monitor: Ref,
  subject: words(slaSubjects),
  verdict: words(slaTargetVerdicts),
  judged: Verdict,
  /** In `unit`; null for finishBy. */
  target: nullable(number),
  /** Of `maxDuration` the longest run of the window, the running ones among them. */
  current: nullable(number),
  unit: nullable(words(['percent', 'seconds'])),
  /** `06:00 Europe/Berlin`. */
  finishBy: nullable(text),
  windowDays: int,
  success: nullable(count),
  runs: nullable(count),
  previous: nullable(percent),
  previousSuccess: nullable(count),
  previousRuns: nullable(count),
  /** Failed runs until it breaches, 0 = the next one does; null = breached. */
  failuresLeft: nullable(count),
  budget: nullable(SlaBudget),
  /** By UTC day, the newest last; null = nothing ran. Of 30 days in a page, else null. */
  daily: nullable(listOf(nullable(SlaDay))),
  alertId: nullable(id),
});
export type SlaTarget = Of<typeof SlaTarget>;

/** GET /api/v1/sla */
export const SlaList = named(
  'SlaList',
  extended(listFields(SlaTarget), {
    summary: object({ breached: count, pending: count, atRisk: count, noData: count, met: count }),
  }),
);
export type SlaList = Of<typeof SlaList>;

export const slaSortKeys = ['verdict', 'name', 'namespace', 'failuresLeft', 'margin'] as const;
export type SlaSortKey = (typeof slaSortKeys)[number];
