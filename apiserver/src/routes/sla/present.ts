import type {
  Ref,
  SlaBudget,
  SlaDay,
  SlaSubject,
  SlaTarget,
  SlaTargetVerdict,
  Verdict,
  Words,
} from '@cronjob-monitor/shared/contract';
import {
  brokenTarget,
  brokenWords,
  budgetOf,
  failuresLeft,
  instantIn,
  judgeDay,
  judgeLimit,
  judgeRate,
  limitInWords,
  rateBudget,
  rateWords,
  runWords,
  toVerdict,
  type Budget,
  type Instant,
  type SlaTargets,
  type BrokenTarget,
} from '@cronjob-monitor/shared/domain';
import type { CatalogCronJob, DayOfCronJob, RateCounts, StoredAlert, ToldFacts } from '@cronjob-monitor/shared/store';
import { orNull, toPercent, toSecondsOrNull } from '../../wire-values.ts';
import { presentTold } from '../alerts/told.ts';
import { alertHolds, silenceHolds } from '../verdicts/of-alert.ts';
import type { Surroundings } from '../verdicts/surroundings.ts';

/** What one monitor asks of one CronJob, with all that the answer is told from. */
export interface PairFacts {
  readonly cronJob: CatalogCronJob;
  readonly monitor: Ref;
  readonly monitorId: number;
  readonly targets: SlaTargets;
  readonly current: RateCounts;
  /** The window before. */
  readonly previous: RateCounts;
  /** Its open alert about a subject. */
  readonly alertOf: (subject: SlaSubject) => StoredAlert | undefined;
  readonly toldOf: (alert: StoredAlert) => ToldFacts | undefined;
  /** The longest scheduled run of the window that has ended; undefined: not asked for, or none. */
  readonly longestMs: number | undefined;
  /** Starts of the scheduled Jobs that run now, the oldest first. */
  readonly runningSince: readonly Instant[];
}

/** What is said of a target, and with which figures. */
type Told = Pick<SlaTarget, 'verdict' | 'target' | 'current' | 'unit'> & { readonly words: Words };

/** The targets that a monitor has for a CronJob, one for each subject that it sets. */
export function presentTargets(facts: PairFacts, surroundings: Surroundings): SlaTarget[] {
  const { maxDurationMs, minDurationMs, finishBy } = facts.targets;
  return [
    ...presentRate(facts, surroundings),
    ...(maxDurationMs === undefined
      ? []
      : [present(facts, 'maxDuration', longest(facts, maxDurationMs, surroundings.now), surroundings)]),
    ...(minDurationMs === undefined
      ? []
      : [present(facts, 'minDuration', shortest(facts, minDurationMs), surroundings)]),
    ...(finishBy === undefined ? [] : [presentFinishBy(facts, finishByText(facts, finishBy), surroundings)]),
  ];
}

function present(facts: PairFacts, subject: SlaSubject, told: Told, surroundings: Surroundings): SlaTarget {
  const { cronJob, monitor, targets } = facts;
  const alert = facts.alertOf(subject);
  const { verdict, words, target, current, unit } = told;
  const judged = verdictOfTarget(
    { cronJob, verdict, words, alert, broken: judgedOf(facts, subject), told: alert && facts.toldOf(alert) },
    surroundings,
  );
  return {
    cronjob: { namespace: cronJob.namespace, name: cronJob.name },
    owner: orNull(cronJob.notes.owner),
    monitor,
    subject,
    verdict,
    judged,
    target,
    current,
    unit,
    finishBy: null,
    windowDays: targets.rate.windowDays,
    success: null,
    runs: null,
    previous: null,
    previousSuccess: null,
    previousRuns: null,
    failuresLeft: null,
    budget: subject === 'maxDuration' ? toBudget(durationBudget(told)) : null,
    daily: null,
    alertId: orNull(alert?.id),
  };
}

/** The limit of a longest run, and how much of it that took. */
function durationBudget({ target, current }: Told): Budget | undefined {
  return target === null || current === null ? undefined : budgetOf(target, current);
}

/** Two decimals tell seven failures over from seven and a half. */
export function toBudget(budget: Budget | undefined): SlaBudget | null {
  if (budget === undefined) return null;
  const { allowed, burnt, burntPercent, daysLeft } = budget;
  return {
    allowed: toHundredths(allowed),
    burnt: toHundredths(burnt),
    left: toHundredths(allowed - burnt),
    burntPercent: burntPercent === undefined ? null : toHundredths(burntPercent),
    daysLeft: daysLeft === undefined ? null : toHundredths(daysLeft),
  };
}

const toHundredths = (value: number): number => Math.round(value * 100) / 100;

/** What one day says of a target, in its unit; null where nothing ran. */
export function toDay({ subject, target }: SlaTarget, day: DayOfCronJob | undefined): SlaDay | null {
  if (day === undefined || target === null) return null;
  if (subject === 'successRate') {
    const value = toPercent(day.success, day.success + day.failed);
    return value === null
      ? null
      : { value, isBroken: judgeDay(day, target) === 'belowTarget' || (value === 0 && target > 0) };
  }
  const longest = toSecondsOrNull(day.longestMs);
  return subject === 'maxDuration' && longest !== null ? { value: longest, isBroken: longest > target } : null;
}

/** Broken as it was judged last, or by an alert that is told of. */
function judgedOf(
  { cronJob, monitorId, alertOf, targets }: PairFacts,
  subject: SlaSubject,
): ReturnType<typeof brokenTarget> {
  const broken = brokenTarget(cronJob.broken, monitorId, subject);
  const alert = alertOf(subject);
  if (broken || !alert || alert.state === 'pending') return broken;
  const { windowDays } = targets.rate;
  return { monitorId, subject, sinceAt: alert.sinceAt, measured: 0, limit: 0, windowDays };
}

function presentRate(facts: PairFacts, surroundings: Surroundings): SlaTarget[] {
  const { current, previous, targets } = facts;
  const verdict = judgeRate(current, targets.rate, judgedOf(facts, 'successRate'));
  if (verdict === 'off') return [];
  const runs = current.success + current.failed;
  const previousRuns = previous.success + previous.failed;
  const { minSuccessRate, windowDays } = targets.rate;
  const percent = runs === 0 ? undefined : (100 * current.success) / runs;
  const rate = rateWords({ percent, runs, windowDays, target: minSuccessRate });
  const base = present(
    facts,
    'successRate',
    {
      verdict,
      words:
        runs === 0
          ? `No run in ${windowDays} d`
          : verdict === 'atRisk'
            ? `${rate}; the next failed run breaches it`
            : rate,
      target: orNull(minSuccessRate),
      current: toPercent(current.success, runs),
      unit: 'percent',
    },
    surroundings,
  );
  return [
    {
      ...base,
      success: current.success,
      runs,
      previous: toPercent(previous.success, previousRuns),
      previousSuccess: previous.success,
      previousRuns,
      failuresLeft: verdict === 'breached' ? null : orNull(failuresLeft(current, targets.rate)),
      budget: toBudget(rateBudget(current, { minSuccessRate, windowDays })),
    },
  ];
}

/** The longest run of the window, one that still goes on among them: all of them are promised to stay under the limit. */
function longest(facts: PairFacts, limitMs: number, now: number): Told {
  const { longestMs, runningSince, targets } = facts;
  const [oldest] = runningSince;
  const runningMs = oldest === undefined ? undefined : Math.max(0, now - oldest);
  const isRunning = runningMs !== undefined && runningMs > (longestMs ?? -1);
  const currentMs = isRunning ? runningMs : longestMs;
  const { windowDays } = targets.rate;
  const isBroken = currentMs === undefined ? undefined : currentMs > limitMs;
  // What only runs has not ended: it can break the limit, and meets nothing yet.
  const figure = longestMs === undefined && isBroken === false ? undefined : isBroken;
  const limit = limitInWords(limitMs / 1_000);
  return {
    verdict: judgeLimit(figure, judgedOf(facts, 'maxDuration')),
    words:
      currentMs === undefined
        ? `No run in ${windowDays} d (limit ${limit})`
        : isRunning
          ? `Running for ${instantIn('age', oldest ?? now)} (limit ${limit})`
          : brokenWords({ subject: 'maxDuration', measured: currentMs / 1_000, limit: limitMs / 1_000, windowDays }),
    target: toSecondsOrNull(limitMs),
    current: toSecondsOrNull(currentMs),
    unit: 'seconds',
  };
}

/** What the last success took. */
function shortest(facts: PairFacts, limitMs: number): Told {
  const { lastRun } = facts.cronJob;
  const currentMs = lastRun?.status === 'success' ? lastRun.durationMs : undefined;
  const windowDays = facts.targets.rate.windowDays;
  const limit = limitMs / 1_000;
  const hasRun = lastRun !== undefined;
  return {
    verdict: judgeLimit(
      hasRun ? currentMs !== undefined && currentMs < limitMs : undefined,
      judgedOf(facts, 'minDuration'),
    ),
    words:
      currentMs === undefined
        ? `No success was measured (at least ${limitInWords(limit)} expected)`
        : brokenWords({ subject: 'minDuration', measured: currentMs / 1_000, limit, windowDays }),
    target: toSecondsOrNull(limitMs),
    current: toSecondsOrNull(currentMs),
    unit: 'seconds',
  };
}

/** Told by what was judged: the figures of a time of day are those of its runs. */
function presentFinishBy(facts: PairFacts, time: string, surroundings: Surroundings): SlaTarget {
  const { lastRun } = facts.cronJob;
  const verdict = judgeLimit(lastRun === undefined ? undefined : false, judgedOf(facts, 'finishBy'));
  const words =
    verdict === 'breached'
      ? `Not finished by ${time}`
      : verdict === 'noData' || !lastRun
        ? `No run seen yet (to finish by ${time})`
        : `${runWords(lastRun, 'Last run')} (to finish by ${time})`;
  const told: Told = { verdict, words, target: null, current: null, unit: null };
  return { ...present(facts, 'finishBy', told, surroundings), finishBy: time };
}

/** `06:00 Europe/Berlin`: without a zone of its own in that of the CronJob. */
function finishByText({ cronJob }: PairFacts, finishBy: NonNullable<PairFacts['targets']['finishBy']>): string {
  const zone = finishBy.timeZone ?? cronJob.timeZone;
  return zone === undefined ? finishBy.time : `${finishBy.time} ${zone}`;
}

export function countVerdicts(targets: readonly SlaTarget[]): Readonly<Record<SlaTargetVerdict, number>> {
  const count = (verdict: SlaTargetVerdict): number => targets.filter((target) => target.verdict === verdict).length;
  return {
    breached: count('breached'),
    pending: count('pending'),
    atRisk: count('atRisk'),
    noData: count('noData'),
    met: count('met'),
  };
}

/** What is known of one target. */
interface TargetFacts {
  readonly cronJob: Ref;
  readonly verdict: SlaTargetVerdict;
  readonly words: Words;
  /** As it was judged last. */
  readonly broken: BrokenTarget | undefined;
  /** The open alert about it. */
  readonly alert: StoredAlert | undefined;
  readonly told: ToldFacts | undefined;
}

/** What is said of one target: broken ones have the severity of their alert, or are failing. */
function verdictOfTarget(facts: TargetFacts, surroundings: Surroundings): Verdict {
  const { alert, broken } = facts;
  const told = alert && presentTold(alert, facts.told, surroundings.now);
  const standing = standingOf(facts);
  const silence = standing.state === 'failing' ? silenceHolds(facts.cronJob, surroundings) : [];
  return toVerdict(
    standing,
    { words: facts.words, sinceAt: alert?.sinceAt ?? broken?.sinceAt },
    {
      holds: alert && told ? alertHolds(alert, told, surroundings) : silence,
      told,
      revision: surroundings.revision,
    },
  );
}

function standingOf({ verdict, alert }: TargetFacts): Pick<Verdict, 'state' | 'kind'> {
  if (verdict === 'noData') return { state: 'unknown', kind: 'neverRan' };
  if (verdict === 'atRisk' || verdict === 'met') return { state: 'healthy', kind: 'succeeded' };
  const isOpen = alert !== undefined && alert.state !== 'pending';
  return isOpen ? { state: alert.severity, kind: 'slaBreached' } : { state: 'failing', kind: 'targetMissed' };
}
