import { BudgetError, createBudgetedThread, type Clock } from '@cronjob-monitor/shared/process';
import type { PatternAnswer, PatternQuestion, PatternThread } from './actions/index.ts';

/** Expressions run in linear time, but a large one over a long log can still take seconds. */
const budgetMs = 2_000;

/** The thread in which patterns of callers are tried; it begins with the first. */
export function createPatternThread(clock: Clock): PatternThread & { close(): Promise<void> } {
  const program = new URL('./actions/pattern-program.ts', import.meta.url);
  const thread = createBudgetedThread<PatternQuestion, PatternAnswer>({ program, budgetMs, clock });
  return {
    run: (question) => thread.run(question),
    get waiting() {
      return thread.waiting;
    },
    overBudgetAt: (error) => (error instanceof BudgetError ? (error.step ?? '') : undefined),
    close: () => thread.close(),
  };
}
