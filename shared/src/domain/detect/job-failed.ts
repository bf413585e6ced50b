import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

export interface JobFailedRule {
  readonly enabled: boolean;
  readonly failureThreshold: number;
  readonly recoveryThreshold: number;
  /** Opens it too: so many failures among the last so many runs. */
  readonly failuresOfLast: { readonly failures: number; readonly runs: number } | undefined;
  readonly includeManual: boolean;
}

/** A run that ended in success or failure. Neutral runs are left out before. */
export interface JudgedRun {
  readonly jobName: string;
  readonly status: 'success' | 'failed';
  readonly endedAt: Instant;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
  /** What the Job says of its end. */
  readonly jobReason?: string | undefined;
  /** Of an indexed Job, such as `0,2-3`. */
  readonly failedIndexes?: string | undefined;
  /** The rule of its podFailurePolicy that ended it, as `policyRuleOf` reads it. */
  readonly policyRule?: string | undefined;
  readonly fault?: Fault | undefined;
}

export interface JobFailedFacts {
  /** Newest end first, as many as the thresholds ask for; manual runs only when the rule includes them. */
  readonly runs: readonly JudgedRun[];
  readonly isOpen: boolean;
}

/**
 * Opens after `failureThreshold` failures in a row, or as many among the last runs as `failuresOfLast` says; holds until
 * `recoveryThreshold` successes in a row. A retried pod is no failure: only the Job's end is a run.
 */
export function jobFailed(rule: JobFailedRule, facts: JobFailedFacts): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  const [last] = facts.runs;
  if (!last) return quiet('noRun');

  const failures = leading(facts.runs, 'failed');
  const successes = leading(facts.runs, 'success');
  if (facts.isOpen ? successes.length >= rule.recoveryThreshold : !opens(rule, facts.runs, failures.length)) {
    return quiet(failures.length > 0 ? 'belowThreshold' : 'lastRunSucceeded');
  }
  // While it waits for its recovery the newest failure lies behind the successes.
  const newestFailure = facts.runs.find((run) => run.status === 'failed') ?? last;
  const upToIt = facts.runs.slice(facts.runs.indexOf(newestFailure));
  const first = failures.at(-1) ?? newestFailure;
  return holds({
    since: first.endedAt,
    reason: 'runFailed',
    count: Math.max(1, failures.length),
    figures: { measured: failures.length, limit: rule.failureThreshold, unit: 'runs' },
    detail: {
      jobName: newestFailure.jobName,
      exitCode: newestFailure.exitCode,
      reason: newestFailure.reason,
      signature: failureSignature(newestFailure),
      successesInRow: successes.length,
      fault: newestFailure.fault,
      ...(newestFailure.jobReason !== newestFailure.reason && { jobReason: newestFailure.jobReason }),
      ...whatFailed(newestFailure),
      // What the failures in a row alone do not explain.
      ...(leading(upToIt, 'failed').length < rule.failureThreshold && shareOf(rule, upToIt)),
    },
  });
}

function whatFailed({
  failedIndexes,
  policyRule,
}: JudgedRun): Partial<Pick<JudgedRun, 'failedIndexes' | 'policyRule'>> {
  return { ...(failedIndexes && { failedIndexes }), ...(policyRule && { policyRule }) };
}

/** How many runs, newest first, the rule needs to see. */
export function runsNeeded(rule: JobFailedRule): number {
  return Math.max(rule.failureThreshold, rule.recoveryThreshold, rule.failuresOfLast?.runs ?? 1);
}

/** What kind of failure it was: a change of it may be told although the alert is known. */
export function failureSignature(run: Pick<JudgedRun, 'exitCode' | 'reason'>): string {
  return `${exitClass(run.exitCode)}/${run.reason ?? ''}`;
}

function opens(rule: JobFailedRule, runs: readonly JudgedRun[], failuresInRow: number): boolean {
  if (failuresInRow >= rule.failureThreshold) return true;
  if (!rule.failuresOfLast || failuresInRow === 0) return false;
  return (shareOf(rule, runs)?.failedOfLast ?? 0) >= rule.failuresOfLast.failures;
}

/** How many of the last runs failed, of as many as `failuresOfLast` names or as there are; undefined without that rule. */
function shareOf(
  { failuresOfLast }: JobFailedRule,
  runs: readonly JudgedRun[],
): { readonly failedOfLast: number; readonly ofLast: number } | undefined {
  if (!failuresOfLast) return undefined;
  const recent = runs.slice(0, failuresOfLast.runs);
  return { failedOfLast: recent.filter((run) => run.status === 'failed').length, ofLast: recent.length };
}

function leading(runs: readonly JudgedRun[], status: JudgedRun['status']): readonly JudgedRun[] {
  const end = runs.findIndex((run) => run.status !== status);
  return end < 0 ? runs : runs.slice(0, end);
}

function exitClass(exitCode: number | undefined): string {
  if (exitCode === undefined) return 'none';
  if (exitCode === 137 || exitCode === 143) return String(exitCode);
  if (exitCode >= 128) return 'signal';
  return exitCode >= 126 ? '126-127' : '1-125';
}
