import type { PatternTestResult } from '@cronjob-monitor/shared/contract';
import { invalidRequest, tooBusy, type ApiError } from '../errors.ts';
import type { PatternAnswer, PatternQuestion } from './try-pattern.ts';

/** Patterns that may wait for the thread: with each at its budget the last one waits for 16 s. */
const mostWaiting = 8;
const retryAfterSeconds = 5;

/** Where patterns of callers are tried: a thread with a time budget, so that none stalls the loop that serves everybody else. */
export interface PatternThread {
  run(question: PatternQuestion): Promise<PatternAnswer>;
  /** Questions that wait or run. */
  readonly waiting: number;
  /** Whether `run` failed because the question took too long. */
  readonly isOverBudget: (error: unknown) => boolean;
}

/** Tries one pattern. Throws INVALID_REQUEST for one that cannot be tried, RATE_LIMITED when too many wait. */
export async function testPattern(thread: PatternThread, question: PatternQuestion): Promise<PatternTestResult> {
  if (thread.waiting >= mostWaiting) throw tooBusy(retryAfterSeconds);
  const answer = await askThread(thread, question);
  if ('unusable' in answer) throw refuse(answer.unusable);
  return answer;
}

async function askThread(thread: PatternThread, question: PatternQuestion): Promise<PatternAnswer> {
  try {
    return await thread.run(question);
  } catch (error) {
    if (thread.isOverBudget(error)) throw refuse('takes too long to look for');
    throw error;
  }
}

function refuse(message: string): ApiError {
  return invalidRequest([{ in: 'body', field: 'pattern.match', message, allowed: 'RE2, at most 1 KiB each' }]);
}
