import type { SpecEpoch } from '../slots/epoch.ts';
import { nearestRank } from '../stats/percentile.ts';
import type { Instant } from '../instant.ts';
import type { MissedScheduleRule } from './missed-schedule.ts';
import type { Suspension } from './passed-level.ts';

/**
 * How far back the facts of a verdict reach. The service asks the database for so much, and a preview takes as much of the history that it
 * holds: so both judge by the same.
 */
export const factsReach = {
  /** Ended runs, at least: a message says how many failed in a row. */
  runs: 20,
  /** Successful scheduled runs that a p95 duration is of; with fewer than `fewestForP95` there is none. */
  durationsForP95: 20,
  fewestForP95: 5,
  durationsForP99: 100,
  /** Of a duration regression: the runs of the last 24 h, or so many when those are fewer. */
  recentRuns: 5,
  /** Its baseline reaches back to so many runs when its window holds fewer. */
  baselineRuns: 20,
} as const;

const fewestSlots = 50;

/**
 * How many expected runs these rules look at, newest first: a row of missed ones among skipped ones, up to where it opens. One that is longer
 * is counted by its alert, which goes on.
 */
export function slotsReach(rules: readonly Pick<MissedScheduleRule, 'threshold' | 'skipWarnAfter'>[]): number {
  return Math.max(fewestSlots, ...rules.map(({ threshold, skipWarnAfter = 0 }) => threshold + skipWarnAfter));
}

/** The p95 of the newest durations. `oldestFirst`: milliseconds, in the order of their runs. Undefined: there are too few. */
export function p95Duration(oldestFirst: readonly number[]): number | undefined {
  const last = oldestFirst.slice(-factsReach.durationsForP95).sort((a, b) => a - b);
  return last.length < factsReach.fewestForP95 ? undefined : nearestRank(last, 0.95);
}

/** Spans in which the CronJob was suspended: epochs that touch are one suspension, since other fields may change meanwhile. */
export function suspensionsIn(epochs: readonly SpecEpoch[]): Suspension[] {
  const suspensions: { fromAt: Instant; toAt: Instant | undefined }[] = [];
  for (const { suspended, fromAt, toAt } of epochs) {
    if (!suspended) continue;
    const last = suspensions.at(-1);
    if (last?.toAt === fromAt) last.toAt = toAt;
    else suspensions.push({ fromAt, toAt });
  }
  return suspensions;
}

/** Since when the CronJob of these epochs has been suspended: the first of the last ones that touch. Undefined: it is not. */
export function suspendedSince(epochs: readonly SpecEpoch[]): Instant | undefined {
  const last = epochs.findLastIndex(({ suspended }) => !suspended);
  return epochs[last + 1]?.fromAt;
}

/** The Jobs that a verdict names in its detail. */
export function jobNamesOf(detail: Readonly<Record<string, unknown>>): string[] {
  const { jobName, jobs, running } = detail;
  const listed = [jobs, running].find((names) => Array.isArray(names)) as readonly unknown[] | undefined;
  return [...new Set([jobName, ...(listed ?? [])].filter((name) => typeof name === 'string'))];
}
