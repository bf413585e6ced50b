import {
  createFixMatcher,
  withoutSearches,
  type FixQuestion,
  type Instant,
  type SuggestedFix,
} from '@cronjob-monitor/shared/domain';
import { type Clock, BudgetError, createBudgetedThread, type Logger } from '@cronjob-monitor/shared/process';

export interface FixProblem {
  /** Of the question: names the monitor and its generation. */
  readonly key: string;
  /** Undefined: none was named. */
  readonly pattern: string | undefined;
  readonly error: unknown;
}

export type SuggestFix = (question: FixQuestion) => Promise<SuggestedFix | undefined>;

/** A pattern that took too long is left out for this time: each trial costs a thread. */
const restMs = 3_600_000;
/** After this many patterns that took too long, a question is answered without searches. */
const mostOverruns = 3;

/**
 * Suggests a fix for a run. A pattern that takes too long is reported and left out; the others are tried again without it. After
 * `mostOverruns` of them only exit codes and reasons decide. Never throws.
 */
export function createFixSuggesting(deps: {
  /** In a thread with a time budget. */
  readonly run: (question: FixQuestion) => Promise<SuggestedFix | undefined>;
  /** The pattern at which the thread went over its budget; undefined: it failed in another way. */
  readonly overBudgetAt: (error: unknown) => { readonly step: string | undefined } | undefined;
  /** Hears once per hour of each pattern that takes too long, and of every other failure. */
  readonly report: (problem: FixProblem) => void;
  readonly clock: Pick<Clock, 'now'>;
}): SuggestFix {
  const restingUntil = new Map<string, Instant>();
  const matchHere = createFixMatcher();
  const nameOf = (key: string, pattern: string): string => `${key} ${pattern}`;

  const withoutResting = (question: FixQuestion): FixQuestion => {
    const now = deps.clock.now();
    const resting = new Set<string>();
    for (const { name } of question.patterns) {
      const until = restingUntil.get(nameOf(question.key, name));
      if (until !== undefined && until > now) resting.add(name);
      else if (until !== undefined) restingUntil.delete(nameOf(question.key, name));
    }
    if (resting.size === 0) return question;
    const patterns = question.patterns.filter(({ name }) => !resting.has(name));
    return { ...question, patterns, key: `${question.key} without ${[...resting].join(', ')}` };
  };

  return async (question) => {
    for (let overruns = 0; overruns < mostOverruns; overruns++) {
      const asked = withoutResting(question);
      try {
        // The next trial leaves out the pattern that took too long in this one.
        return await deps.run(asked);
      } catch (error) {
        const over = deps.overBudgetAt(error);
        const pattern = asked.patterns.find(({ name }) => name === over?.step)?.name;
        deps.report({ key: question.key, pattern, error });
        if (pattern === undefined) break;
        restingUntil.set(nameOf(question.key, pattern), deps.clock.now() + restMs);
      }
    }
    return matchHere(withoutSearches(question));
  };
}

/** Budget of one search with all patterns (security.md section 5). */
const matchBudgetMs = 250;

/** Searches in a thread that ends with the signal: a pattern that a user wrote must not stall the event loop. */
export function createFixSuggestions(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
): SuggestFix {
  const thread = createBudgetedThread<FixQuestion, SuggestedFix | undefined>({
    program: new URL('./fix-program.ts', import.meta.url),
    budgetMs: matchBudgetMs,
    clock,
  });
  signal.addEventListener('abort', () => void thread.close(), { once: true });
  return createFixSuggesting({
    run: (question) => thread.run(question),
    overBudgetAt: (error) => (error instanceof BudgetError ? { step: error.step } : undefined),
    report: ({ key, pattern, error }) => {
      if (signal.aborted) return;
      const [monitor] = key.split(' ');
      const what =
        pattern === undefined ? 'suggestions were sought without texts' : 'a fix pattern is left out for an hour';
      logger.warn(what, { monitor, pattern, error });
    },
    clock,
  });
}
