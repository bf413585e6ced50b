import type { Severity } from '../../contract/index.ts';
import { durationFact } from '../execution/output-facts.ts';
import { nearestRank } from '../stats/percentile.ts';
import type { Instant } from '../instant.ts';
import type { EndedRun } from './duration-limits.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import { successesPassed, type PassedLevel } from './passed-level.ts';

/** What a monitor says of one fact. At least one of min, max, required, dropBelow is given. */
export interface OutputAssertion {
  readonly name: string;
  readonly fact: string;
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** A success without the fact breaks it. */
  readonly required: boolean;
  /** Less than so many percent of the median of the last `runs` scheduled successes. */
  readonly dropBelow: { readonly percent: number; readonly runs: number } | undefined;
  readonly severity: Severity;
}

export interface OutputRule {
  readonly assertions: readonly OutputAssertion[];
}

/** A success whose facts are known. */
export interface OutputRun extends EndedRun {
  readonly isScheduled: boolean;
  readonly values: ReadonlyMap<string, number>;
}

export interface OutputHistory {
  /** Successes in the order of their end. */
  readonly runs: readonly OutputRun[];
  /** What ended before is compared with, and opens nothing. */
  readonly judgesFromAt: Instant;
  /** There are older ones than these. */
  readonly isCut?: boolean | undefined;
}

/** One assertion that a run breaks, and how. */
export interface BrokenAssertion {
  readonly name: string;
  readonly fact: string;
  /** Undefined: the run has no such fact. */
  readonly value: number | undefined;
  readonly limit: number | undefined;
  readonly by: 'minimum' | 'maximum' | 'missing' | 'drop';
  readonly severity: Severity;
}

/** With fewer values before it a run is compared with none. */
const fewestForMedian = 3;

/** How many successes decide: twice the longest comparison, for a whole row of broken ones may lie before what it is compared with. */
export function outputRunsNeeded({ assertions }: OutputRule): number {
  return 1 + 2 * Math.max(0, ...assertions.map(({ dropBelow }) => dropBelow?.runs ?? 0));
}

/**
 * Holds while the newest success breaks an assertion, since the first of the row that does; one that meets all ends it. Each success counts, a
 * manual one too.
 */
export function outputBroken(rule: OutputRule, { runs, judgesFromAt }: OutputHistory): Verdict {
  if (rule.assertions.length === 0) return quiet('notConfigured');
  const last = runs.at(-1);
  if (!last || last.endedAt < judgesFromAt) return quiet('noRun');
  const broken = brokenBy(rule, runs);
  const before = runs.findLastIndex(({ endedAt }, index) => endedAt < judgesFromAt || broken[index]?.length === 0);
  return verdictOf(last, broken.at(-1) ?? [], runs[before + 1]?.endedAt);
}

/** Each time that a success broke an assertion and a later one met all. */
export function outputPassed(rule: OutputRule, { runs, judgesFromAt, isCut = false }: OutputHistory): PassedLevel[] {
  const broken = new Map(brokenBy(rule, runs).map((found, index) => [runs[index], found]));
  const judged = runs.filter(({ endedAt }) => endedAt >= judgesFromAt);
  return successesPassed(
    'output',
    judged,
    (run) => verdictOf(run, broken.get(run) ?? []),
    isCut && judged[0] === runs[0],
  );
}

function verdictOf(run: OutputRun, broken: readonly BrokenAssertion[], since = run.endedAt): Verdict {
  const [first] = broken;
  if (!first) return quiet('outputMet');
  return holds({
    since,
    reason: 'outputBroken',
    severity: broken.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning',
    figures: { measured: first.value, limit: first.limit, unit: first.fact === durationFact ? 'seconds' : undefined },
    detail: { jobName: run.jobName, broken },
  });
}

function brokenBy({ assertions }: OutputRule, runs: readonly OutputRun[]): BrokenAssertion[][] {
  const found: BrokenAssertion[][] = runs.map(() => []);
  for (const assertion of assertions) {
    const median = medians(assertion, runs);
    for (const [index, run] of runs.entries()) {
      const broken = breach(assertion, valueOf(run, assertion.fact), median[index]);
      if (broken)
        found[index]?.push({ name: assertion.name, fact: assertion.fact, severity: assertion.severity, ...broken });
    }
  }
  return found;
}

function breach(
  { min, max, required, dropBelow }: OutputAssertion,
  value: number | undefined,
  median: number | undefined,
): Pick<BrokenAssertion, 'value' | 'limit' | 'by'> | undefined {
  if (value === undefined) return required ? { value, limit: undefined, by: 'missing' } : undefined;
  if (min !== undefined && value < min) return { value, limit: min, by: 'minimum' };
  if (max !== undefined && value > max) return { value, limit: max, by: 'maximum' };
  if (!dropBelow || median === undefined) return undefined;
  const limit = (dropBelow.percent / 100) * median;
  return value < limit ? { value, limit, by: 'drop' } : undefined;
}

/**
 * What each run is compared with: the nearest-rank median of the last scheduled successes before it. One that fell below it is no measure for
 * the next, until so many have in a row that they are what is usual now.
 */
function medians({ fact, dropBelow }: OutputAssertion, runs: readonly OutputRun[]): (number | undefined)[] {
  if (!dropBelow) return [];
  let usual: number[] = [];
  let fallen: number[] = [];
  return runs.map((run) => {
    const median =
      usual.length < fewestForMedian
        ? undefined
        : nearestRank(
            usual.toSorted((a, b) => a - b),
            0.5,
          );
    const value = valueOf(run, fact);
    if (value === undefined || !run.isScheduled) return median;
    if (median !== undefined && value < (dropBelow.percent / 100) * median) {
      fallen.push(value);
      if (fallen.length >= dropBelow.runs) [usual, fallen] = [fallen, []];
    } else {
      usual = [...usual, value].slice(-dropBelow.runs);
      fallen = [];
    }
    return median;
  });
}

function valueOf({ values, durationMs }: OutputRun, fact: string): number | undefined {
  if (fact === durationFact) return durationMs === undefined ? undefined : durationMs / 1_000;
  return values.get(fact);
}
