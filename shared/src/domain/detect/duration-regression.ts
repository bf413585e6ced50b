import { factsReach } from './facts-reach.ts';
import type { Instant } from '../instant.ts';
import { nearestRank } from '../stats/percentile.ts';
import { sketchError, toldOfSketch } from '../stats/sketch.ts';
import { holds, quiet, undecided, type Verdict } from './verdict.ts';

export interface DurationRegressionRule {
  readonly enabled: boolean;
  /** Percent above the baseline's p95; 0 = off. */
  readonly thresholdPercent: number;
  readonly baselineWindowMs: number;
}

/** Quartile and 95th percentile of the durations before the recent runs, milliseconds. */
export interface Baseline {
  readonly runs: number;
  readonly p25: number;
  readonly p75: number;
  readonly p95: number;
}

export interface DurationRegressionFacts {
  /** Durations of the recent successful scheduled runs, newest first: the last 5, or all of the last 24 h. */
  readonly recentMs: readonly number[];
  readonly newestEndAt: Instant | undefined;
  readonly baseline: Baseline;
  /** While the alert is open: the baseline as it was when it opened, and the evaluations in a row that were good. */
  readonly open:
    | { readonly baseline: Baseline; readonly sinceAt: Instant; readonly goodEvaluations: number }
    | undefined;
}

const fewestBaselineRuns = 10;
const smallestRiseMs = 5_000;
const fewestSlowRuns = 3;

/**
 * Holds when recent runs take markedly longer than before: their p95 is a threshold above the baseline's, by more than the baseline
 * scatters anyway, and not because of one run alone. The baseline is frozen while it holds, so that slowness cannot become its own
 * measure; after a whole window it is the new normal.
 */
export function durationRegression(
  rule: DurationRegressionRule,
  facts: DurationRegressionFacts,
  now: Instant,
): Verdict {
  if (!rule.enabled || rule.thresholdPercent === 0) return quiet('notConfigured');
  const { open } = facts;
  if (open && now >= open.sinceAt + rule.baselineWindowMs) return quiet('newNormal');
  const baseline = open?.baseline ?? facts.baseline;
  if (facts.recentMs.length < factsReach.recentRuns || baseline.runs < fewestBaselineRuns) {
    return open ? undecided('tooFewRuns', open.sinceAt + rule.baselineWindowMs) : quiet('tooFewRuns');
  }
  const p95 = nearestRank(sorted(facts.recentMs), 0.95) ?? 0;
  const isGood = p95 < baseline.p95 * (1 + (rule.thresholdPercent - 10) / 100);
  if (open ? isGood && open.goodEvaluations >= 1 : !hasRisen(rule, facts.recentMs, p95, baseline))
    return quiet('asBefore');
  return holds({
    since: open?.sinceAt ?? facts.newestEndAt ?? now,
    reason: 'slowerThanBefore',
    figures: {
      measured: p95 / 1000,
      limit: toldLimit(limitOf(rule, baseline), p95) / 1000,
      unit: 'seconds',
    },
    detail: { baseline, risePercent: (p95 / baseline.p95 - 1) * 100, good: isGood },
  });
}

function limitOf({ thresholdPercent }: DurationRegressionRule, baseline: Baseline): number {
  return baseline.p95 * (1 + thresholdPercent / 100);
}

/** What is above a limit is not below it as that is told. */
function toldLimit(limitMs: number, p95: number): number {
  const told = toldOfSketch(limitMs);
  return p95 >= limitMs ? Math.min(p95, told) : told;
}

function hasRisen(rule: DurationRegressionRule, recentMs: readonly number[], p95: number, baseline: Baseline): boolean {
  const isAboveThreshold = p95 >= limitOf(rule, baseline);
  const isAboveScatter = p95 - baseline.p95 >= Math.max(smallestRiseMs, 1.5 * (baseline.p75 - baseline.p25));
  // The baseline comes from a sketch: durations that are all the same lie a little above what that says of them, and are not slow for it.
  const slow = recentMs.filter((ms) => ms * (1 - sketchError) > baseline.p95);
  return isAboveThreshold && isAboveScatter && slow.length >= fewestSlowRuns;
}

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
