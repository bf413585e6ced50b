import { BudgetError, createBudgetedThread, type Clock } from '@cronjob-monitor/shared/process';
import {
  partBudgetMs,
  type PatternAnswer,
  type PatternQuestion,
  type PatternThread,
  type SearchAnswer,
  type SearchQuestion,
  type SearchThread,
} from './actions/index.ts';

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

/** The thread in which kept logs are searched, a few at once; it begins with the first search. */
export function createSearchThread(clock: Clock): SearchThread & { close(): Promise<void> } {
  const program = new URL('./actions/search-program.ts', import.meta.url);
  const thread = createBudgetedThread<SearchQuestion, SearchAnswer>({ program, budgetMs: partBudgetMs, clock });
  return {
    run: (question) => thread.run(question),
    get waiting() {
      return thread.waiting;
    },
    isOverBudget: (error) => error instanceof BudgetError,
    close: () => thread.close(),
  };
}
