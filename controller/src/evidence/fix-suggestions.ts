import type { FixQuestion, SuggestedFix } from '@cronjob-monitor/shared/domain';
import { BudgetError, createBudgetedThread, type Clock, type Logger } from '@cronjob-monitor/shared/process';
import { createFixSuggesting, type SuggestFix } from './suggest-fixes.ts';

/** A run of the patterns may take so long. security.md section 5. */
const matchBudgetMs = 250;

/** Suggestions from a thread that ends with the signal: nothing that people wrote may stall the loop. */
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
