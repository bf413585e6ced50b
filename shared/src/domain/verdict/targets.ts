import type { DayVerdict, SlaSubject, SlaVerdict } from '../../contract/index.ts';
import { dayMs, dayOf, parseDuration, startOfDay } from '../duration.ts';
import type { Instant } from '../instant.ts';
import type { BrokenTarget } from './cron-job-words.ts';
import { blockIn, textIn } from '../json.ts';

interface Counts {
  readonly success: number;
  readonly failed: number;
}

/** What a monitor promises of a rate. */
interface RateTarget {
  readonly enabled: boolean;
  /** Percent; undefined = no target. */
  readonly minSuccessRate: number | undefined;
  /** With fewer runs nothing is said. */
  readonly minRuns: number;
}

/** What a monitor's spec as applied says of success rates. */
export interface SlaTargetSpec extends RateTarget {
  readonly windowDays: number;
  /** Runs that never started count as failed. */
  readonly countMissed: boolean;
}

/** Window of figures where no monitor sets one. */
export const defaultWindowDays = 7;

export const noSla: SlaTargetSpec = {
  enabled: false,
  minSuccessRate: undefined,
  windowDays: defaultWindowDays,
  minRuns: 1,
  countMissed: false,
};

/** What has another form than expected counts as absent. */
export function slaOf(spec: unknown): SlaTargetSpec {
  const fields = blockIn(spec, 'sla');
  if (!fields) return noSla;
  const numberIn = (key: string): number | undefined => {
    const value = fields[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
  const enabled = fields['enabled'] !== false;
  return {
    enabled,
    minSuccessRate: enabled ? (numberIn('minSuccessRate') ?? 95) : undefined,
    windowDays: numberIn('windowDays') ?? defaultWindowDays,
    minRuns: numberIn('minRuns') ?? 1,
    countMissed: fields['countMissed'] === true,
  };
}

/** Everything that a monitor asks of the runs of a CronJob. */
export interface SlaTargets {
  readonly rate: SlaTargetSpec;
  readonly maxDurationMs: number | undefined;
  readonly minDurationMs: number | undefined;
  /** `timeZone` undefined: that of the CronJob. */
  readonly finishBy: { readonly time: string; readonly timeZone: string | undefined } | undefined;
}

/** Undefined: none at all. */
export function slaTargetsOf(spec: unknown): SlaTargets | undefined {
  const sla = blockIn(spec, 'sla');
  if (!sla || sla['enabled'] === false) return undefined;
  const finishBy = blockIn(sla, 'finishBy');
  const time = textIn(finishBy, 'time');
  return {
    rate: slaOf(spec),
    maxDurationMs: parseDuration(textIn(sla, 'maxDuration') ?? ''),
    minDurationMs: parseDuration(textIn(sla, 'minDuration') ?? ''),
    finishBy: time === undefined ? undefined : { time, timeZone: textIn(finishBy, 'timezone') },
  };
}

/** `to` is exclusive. */
interface RateWindow {
  readonly from: Instant;
  readonly to: Instant;
}

/** The last n x 24 h, cut to the minute so that answers stay the same within it, and as much before. */
export function rateWindows(
  now: Instant,
  days: number,
): { readonly current: RateWindow; readonly previous: RateWindow } {
  const span = days * dayMs;
  const from = Math.floor(now / 60_000) * 60_000 - span;
  return { current: { from, to: startOfDay(dayOf(now) + 1) }, previous: { from: from - span, to: from } };
}

/** The promise of a monitor about a subject that was found broken when it was judged last; undefined: it was not. */
export function brokenTarget(
  broken: readonly BrokenTarget[],
  monitorId: number | undefined,
  subject: SlaSubject,
): BrokenTarget | undefined {
  return broken.find((target) => target.monitorId === monitorId && target.subject === subject);
}

/**
 * What a success rate says of its target: what was judged stands until it is judged again, a figure below the target that is not judged yet
 * is `pending`, and it is `atRisk` when one more failed run would breach it.
 */
export function judgeRate(
  { success, failed }: Counts,
  target: RateTarget,
  judged: BrokenTarget | undefined,
): SlaVerdict {
  const { enabled, minSuccessRate, minRuns } = target;
  if (!enabled || minSuccessRate === undefined) return 'off';
  if (judged) return 'breached';
  const runs = success + failed;
  if (runs === 0 || runs < minRuns) return 'noData';
  if (isBelow(success, runs, minSuccessRate)) return 'pending';
  return isBelow(success, runs + 1, minSuccessRate) ? 'atRisk' : 'met';
}

/** What the scheduled runs of one day say of the target in percent. */
export function judgeDay({ success, failed }: Counts, minSuccessRate: number | undefined): DayVerdict {
  const runs = success + failed;
  if (runs === 0) return 'noRun';
  if (failed === 0) return 'succeeded';
  if (success === 0) return 'failed';
  return minSuccessRate !== undefined && isBelow(success, runs, minSuccessRate) ? 'belowTarget' : 'someFailed';
}

/** Compared without division: a rate that equals its target meets it. */
function isBelow(success: number, runs: number, minSuccessRate: number): boolean {
  return success * 100 < minSuccessRate * runs;
}

/** What a duration says of its limit, by the same rule. `isBroken`: undefined without an ended run. */
export function judgeLimit(
  isBroken: boolean | undefined,
  judged: BrokenTarget | undefined,
): 'breached' | 'pending' | 'noData' | 'met' {
  if (judged) return 'breached';
  if (isBroken === undefined) return 'noData';
  return isBroken ? 'pending' : 'met';
}

/** What a promise allows, and what of it is used: failed runs of a rate, seconds of a longest duration. */
export interface Budget {
  readonly allowed: number;
  readonly burnt: number;
  /** Percent; undefined: something is used where nothing was allowed. */
  readonly burntPercent: number | undefined;
  /** At the pace of the window; undefined: nothing is left, or nothing is used. */
  readonly daysLeft: number | undefined;
}

/** The error budget of a rate: runs x (1 - target) may fail. Undefined without a run, or where any number may fail. */
export function rateBudget(
  { success, failed }: Counts,
  { minSuccessRate, windowDays }: { readonly minSuccessRate: number | undefined; readonly windowDays: number },
): Budget | undefined {
  const runs = success + failed;
  if (runs === 0 || minSuccessRate === undefined || minSuccessRate === 0) return undefined;
  const allowed = (runs * (100 - minSuccessRate)) / 100;
  const left = allowed - failed;
  return { ...budgetOf(allowed, failed), daysLeft: failed > 0 && left > 0 ? (left * windowDays) / failed : undefined };
}

/** A longest duration as a budget of its limit. */
export function budgetOf(allowed: number, burnt: number): Budget {
  const burntPercent = allowed > 0 ? (100 * burnt) / allowed : burnt > 0 ? undefined : 0;
  return { allowed, burnt, burntPercent, daysLeft: undefined };
}

/** Failed runs until the rate breaches: 0, the next one does. Undefined: it breaches now, or no number of them does. */
export function failuresLeft({ success, failed }: Counts, target: RateTarget): number | undefined {
  const { minSuccessRate, minRuns } = target;
  if (minSuccessRate === undefined || minSuccessRate === 0) return undefined;
  const runs = success + failed;
  if (runs >= minRuns && runs > 0 && isBelow(success, runs, minSuccessRate)) return undefined;
  let more = Math.max(0, Math.floor((success * 100) / minSuccessRate) - runs);
  while (!isBelow(success, runs + more + 1, minSuccessRate)) more += 1; // the division may have rounded
  return Math.max(more, minRuns - runs - 1);
}
