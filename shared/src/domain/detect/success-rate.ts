import type { Instant } from '../instant.ts';
import { dayMs } from '../duration.ts';
import { holds, quiet, undecided, type Verdict } from './verdict.ts';
import { firmly, type PassedLevel } from './passed-level.ts';

export interface SuccessRateRule {
  readonly enabled: boolean;
  /** Percent. */
  readonly minSuccessRate: number;
  readonly windowDays: number;
  readonly minRuns: number;
}

export interface SuccessRateFacts {
  /** Scheduled runs of the window; missed slots are among the failed ones when the rule counts them. */
  readonly success: number;
  readonly failed: number;
  /** The same as they are shown, with the history that opens nothing by itself. */
  readonly shown?: { readonly success: number; readonly failed: number } | undefined;
  /** End of the run that changed the rate last. */
  readonly lastRunAt: Instant | undefined;
  /** Since when the rate that is shown has been below the minimum; undefined: it is not, or it is not known. */
  readonly brokeAt?: Instant | undefined;
  /** Set while the alert is open: how many evaluations in a row found the rate good again. */
  readonly openGoodEvaluations: number | undefined;
  /** After a time without a look: since when an alert is open of a service that looked; undefined: none is, or there was no such time. */
  readonly heldSince?: Instant | undefined;
}

/**
 * Holds when less than `minSuccessRate` percent of the window's runs succeeded. It ends when the rate is a margin above the minimum in
 * two evaluations in a row, so that one run more or less does not open and close it by turns. Without a run in the window there is no rate
 * to speak of any more.
 */
export function successRateBelow(rule: SuccessRateRule, facts: SuccessRateFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  const runs = facts.success + facts.failed;
  const isOpen = facts.openGoodEvaluations !== undefined || facts.heldSince !== undefined;
  if (isOpen && runs === 0) return quiet('noRuns');
  if (runs < rule.minRuns || runs === 0) return isOpen ? undecided('tooFewRuns') : quiet('tooFewRuns');

  const isBreached = isRateBelow(rule, facts);
  const isGood = 100 * facts.success >= (rule.minSuccessRate + recoveryMargin(rule.minSuccessRate)) * runs;
  if (!isBreached && !isOpen) return quiet('rateMet');
  if (!isBreached && isGood && (facts.openGoodEvaluations ?? 0) >= 1) return quiet('rateMet');
  return holds({
    since: facts.heldSince ?? facts.brokeAt ?? facts.lastRunAt ?? now,
    reason: isBreached ? 'rateBelowMinimum' : 'recovering',
    figures: { measured: (100 * facts.success) / runs, limit: rule.minSuccessRate, unit: 'percent' },
    detail: { success: facts.success, runs, windowDays: rule.windowDays, good: isGood && !isBreached },
  });
}

/** Whether there are runs enough for a rate, and fewer of them succeeded than the rule asks for. */
export function isRateBelow(
  { minSuccessRate, minRuns }: Pick<SuccessRateRule, 'minSuccessRate' | 'minRuns'>,
  { success, failed }: Pick<SuccessRateFacts, 'success' | 'failed'>,
): boolean {
  const runs = success + failed;
  return runs >= Math.max(1, minRuns) && 100 * success < minSuccessRate * runs;
}

/** A run as it counts for a rate. */
export interface RatedRun {
  readonly status: 'success' | 'failed';
  readonly endedAt: Instant;
}

/**
 * Since when the rate of these runs, in any order, has been below the minimum without a break, whenever anything looked: a rate moves as a run
 * ends, and as one leaves the window. Undefined: it is not.
 */
export function rateBelowSince(
  rule: Omit<SuccessRateRule, 'enabled'>,
  runs: readonly RatedRun[],
  now: Instant,
): Instant | undefined {
  let since: Instant | undefined;
  for (const { at, counts } of ratesOverTime(rule, runs, now))
    since = isRateBelow(rule, counts) ? (since ?? at) : undefined;
  return since;
}

export interface RatePast {
  /** Scheduled runs that count, in any order. */
  readonly runs: readonly (RatedRun & { readonly jobName: string })[];
  /** From when on the monitor judges the CronJob: what was before opens nothing by itself. */
  readonly originAt: Instant;
  /** Before that instant some runs of the window are not known. */
  readonly completeFromAt: Instant;
  /** What is well again sooner is never told, without a margin. */
  readonly delayMs: number;
  readonly now: Instant;
}

/** So far apart are two evaluations of a service that watches: a rate that is good for less is not found good by two, and one that is bad for less may be found by none. */
const betweenLooksMs = 300_000;

/** Each time that the rate was below its minimum, and then good again for long enough. */
export function ratesPassed(rule: SuccessRateRule, past: RatePast): readonly PassedLevel[] {
  return rule.enabled ? replayRates(rule, past).passed : [];
}

/** Since when the rate was below its minimum, and has not been good again for long enough since; undefined: it was not. */
export function rateHeldSince(rule: SuccessRateRule, past: RatePast): Instant | undefined {
  return rule.enabled ? replayRates(rule, past).heldSince : undefined;
}

function replayRates(
  rule: SuccessRateRule,
  { runs, originAt, completeFromAt, delayMs, now }: RatePast,
): { readonly passed: readonly PassedLevel[]; readonly heldSince: Instant | undefined } {
  const passed: PassedLevel[] = [];
  const ran = runs.map(({ endedAt }) => endedAt).sort((a, b) => a - b);
  let held: { readonly since: Instant; readonly verdict: ReturnType<typeof firmly> } | undefined;
  let goodAt: Instant | undefined;
  let cause: PassedLevel['cause'];
  const wasFound = (since: Instant, untilAt: Instant): boolean => {
    const hasRun = ran.some((at) => at >= Math.max(since, originAt) && at < untilAt);
    return untilAt - since >= betweenLooksMs && since >= completeFromAt && hasRun;
  };
  const endAt = (before: Instant): void => {
    if (held === undefined || goodAt === undefined || before - goodAt < betweenLooksMs) return;
    const { since, verdict } = held;
    const endedAt = goodAt;
    [held, goodAt] = [undefined, undefined];
    if (!wasFound(since, endedAt)) return;
    const by = runs.find((run) => run.endedAt === endedAt && run.status === 'success');
    passed.push({ type: 'slaBreached', subject: 'successRate', verdict, beganAt: since - 1, endedAt, by, cause });
  };
  for (const { at, counts } of ratesOverTime(rule, runs, now)) {
    endAt(at);
    const isBelow = isRateBelow(rule, counts);
    if (held && !isBelow && at < held.since + delayMs) [held, goodAt] = [undefined, undefined];
    if (held === undefined && !isBelow) continue;
    const facts = { ...counts, lastRunAt: at, brokeAt: held?.since ?? at, openGoodEvaluations: held ? 1 : undefined };
    const verdict = successRateBelow(rule, facts, at);
    if (verdict.kind === 'holds') [held, goodAt] = [{ since: verdict.since, verdict: firmly(verdict) }, undefined];
    else if (verdict.kind === 'quiet' && goodAt === undefined)
      [goodAt, cause] = [at, verdict.reason === 'noRuns' ? 'noRuns' : undefined];
  }
  endAt(now);
  return { passed, heldSince: held && wasFound(held.since, goodAt ?? now) ? held.since : undefined };
}

/** The counts of the window after each instant at which a run ended or left it. */
function* ratesOverTime(
  { windowDays }: Pick<SuccessRateRule, 'windowDays'>,
  runs: readonly RatedRun[],
  now: Instant,
): Generator<{ readonly at: Instant; readonly counts: { readonly success: number; readonly failed: number } }> {
  const windowMs = windowDays * dayMs;
  const moves = runs
    .flatMap(({ status, endedAt }) => [
      { at: endedAt, status, by: 1 },
      { at: endedAt + windowMs, status, by: -1 },
    ])
    .filter(({ at }) => at <= now)
    .sort((a, b) => a.at - b.at);
  const counts = { success: 0, failed: 0 };
  for (const [index, { at, status, by }] of moves.entries()) {
    counts[status] += by;
    if (moves[index + 1]?.at !== at) yield { at, counts: { ...counts } };
  }
}

/** How far above its minimum the rate must be to count as recovered, percentage points. */
export function recoveryMargin(minSuccessRate: number): number {
  return Math.min(1, (100 - minSuccessRate) / 2);
}
