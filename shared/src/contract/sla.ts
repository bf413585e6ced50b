import {
  bool,
  count,
  extended,
  id,
  instant,
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
} from './shape/shape.ts';
import { Verdict } from './verdict.ts';
import { severities, slaSubjects, slaTargetVerdicts } from './vocabulary.ts';
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
  /** Of its CronJob, by its annotation. */
  owner: nullable(text),
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
export const slaGroups = ['owner', 'namespace'] as const;

export const slaReportVerdicts = ['missed', 'kept', 'noData'] as const;
export type SlaReportVerdict = (typeof slaReportVerdicts)[number];

/** How one target fared in a month. */
export const SlaReportTarget = object({
  cronjob: Ref,
  owner: nullable(text),
  monitor: Ref,
  subject: words(slaSubjects),
  verdict: words(slaReportVerdicts),
  /** A sentence with its figures. */
  words: text,
  /** Of a rate or a longest duration over the month; null for the others, and without a run. */
  budget: nullable(SlaBudget),
});
export type SlaReportTarget = Of<typeof SlaReportTarget>;

/** An alert that was open within the month. */
export const SlaIncident = object({
  id,
  cronjob: Ref,
  severity: words(severities),
  words: text,
  since: instant,
  /** Null: it is open still. */
  endedAt: nullable(instant),
  /** Null: nothing tells. */
  cause: nullable(text),
});
export type SlaIncident = Of<typeof SlaIncident>;

/** GET /api/v1/sla/report */
export const SlaReport = object('SlaReport', {
  /** `2026-11`, by UTC days. */
  month: text,
  from: instant,
  /** Now, of the month that goes on. */
  to: instant,
  /** `11 of 35 targets were missed` */
  words: text,
  summary: object({ missed: count, kept: count, noData: count }),
  /** Missed ones first, those that burnt most before the others. */
  targets: listOf(SlaReportTarget),
  /** The longest time within the month in which a CronJob had an alert; null: none had. */
  longestOutage: nullable(object({ cronjob: Ref, seconds: count })),
  /** Oldest first, at most 500. */
  incidents: listOf(SlaIncident, 500),
  incidentsOmitted: count,
});
export type SlaReport = Of<typeof SlaReport>;
