import type { FailureCause, PatternCriterion } from '../../contract/index.ts';
import { compileRegex, type Regex } from './regex.ts';

/** What a run must show for a suggestion to apply. All given criteria must hold; with none it never applies. */
export interface FixMatch {
  readonly exitCode?: number | undefined;
  /** Both ends included. */
  readonly exitCodeRange?: { readonly min: number; readonly max: number } | undefined;
  /** Equal without case to one of the reasons. */
  readonly reason?: string | undefined;
  /** RE2, found in one of the reasons. */
  readonly reasonPattern?: string | undefined;
  /** RE2, found in the end of the log. */
  readonly logPattern?: string | undefined;
  /** RE2, found in "reason: message" of one of the events. */
  readonly eventPattern?: string | undefined;
}

/** A pattern as a monitor has it. */
export interface FixPattern {
  readonly name: string;
  readonly match: FixMatch;
  /** Text with the placeholders of suggestions. */
  readonly suggestion: string;
  readonly priority: number;
}

/** What is known of a run that did not go well. */
export interface FixFacts {
  /** Undefined: not known; then it meets no criterion about exit codes. */
  readonly exitCode: number | undefined;
  /** Whose fault it is; undefined: nothing tells, or it was not asked. */
  readonly cause?: FailureCause | undefined;
  /** Of the container or pod, and of the Job's condition. */
  readonly reasons: readonly string[];
  /** The captured end of the log. */
  readonly log: string | undefined;
  /** Each as "reason: message". */
  readonly events: readonly string[];
}

/** One criterion, ready to be asked. */
export interface CompiledCriterion {
  readonly criterion: PatternCriterion;
  readonly holds: (facts: FixFacts) => boolean;
  /** Where in the log it was found, in characters; of a criterion about the log alone. */
  readonly logAt?: (facts: FixFacts) => number | undefined;
}

/** The last of a log that is searched, in characters: what went wrong stands at its end. */
const searchedLogCharacters = 100 * 1024;

/**
 * The given criteria of a match, in the order of the contract; empty for an empty match. Compile once and keep it. `isKnown`: its
 * expressions are known to be good, and compiled when a text is searched with them.
 *
 * @throws RegexError when one of the expressions cannot be used
 */
export function compileMatch(match: FixMatch, isKnown = false): CompiledCriterion[] {
  const { exitCode, exitCodeRange: range, reason, reasonPattern, logPattern, eventPattern } = match;
  const criteria: CompiledCriterion[] = [];
  const whenGiven = (expression: string | undefined, use: (regex: Regex) => void): void => {
    if (expression !== undefined) use(compileRegex(expression, isKnown));
  };
  const add = (
    criterion: PatternCriterion,
    holds: CompiledCriterion['holds'],
    logAt?: CompiledCriterion['logAt'],
  ): void => void criteria.push({ criterion, holds, ...(logAt ? { logAt } : {}) });
  if (exitCode !== undefined) add('exitCode', (facts) => facts.exitCode === exitCode);
  if (range) {
    add('exitCodeRange', ({ exitCode: code }) => code !== undefined && code >= range.min && code <= range.max);
  }
  if (reason !== undefined) {
    const wanted = reason.toLowerCase();
    add('reason', ({ reasons }) => reasons.some((known) => known.toLowerCase() === wanted));
  }
  whenGiven(reasonPattern, (regex) =>
    add('reasonPattern', ({ reasons }) => reasons.some((reason) => regex.finds(reason))),
  );
  whenGiven(logPattern, (regex) => {
    add(
      'logPattern',
      ({ log }) => log !== undefined && regex.finds(log.slice(-searchedLogCharacters)),
      ({ log = '' }) => {
        const at = regex.indexIn(log.slice(-searchedLogCharacters));
        return at === undefined ? undefined : at + Math.max(0, log.length - searchedLogCharacters);
      },
    );
  });
  whenGiven(eventPattern, (regex) => add('eventPattern', ({ events }) => events.some((event) => regex.finds(event))));
  return criteria;
}

/** Whether all criteria hold. None given: it does not. */
export function meetsAll(criteria: readonly CompiledCriterion[], facts: FixFacts): boolean {
  return criteria.length > 0 && criteria.every(({ holds }) => holds(facts));
}
