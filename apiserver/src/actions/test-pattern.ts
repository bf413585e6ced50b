import type { PatternTestResult } from '@cronjob-monitor/shared/contract';
import { invalidRequest, tooBusy, type ApiError } from '../errors.ts';
import type { PatternAnswer, PatternQuestion } from './try-pattern.ts';

/** Patterns that may wait for the thread: with each at its budget the last one waits for 16 s. */
const mostWaiting = 8;
const retryAfterSeconds = 5;

/** Tries patterns of callers in a thread with a time budget, so that a slow pattern does not stall the event loop. */
export interface PatternThread {
  run(question: PatternQuestion): Promise<PatternAnswer>;
  /** Questions that wait or run. */
  readonly waiting: number;
  /** The name of the pattern at which `run` took too long, empty where it is not known; undefined: it failed for another reason. */
  readonly overBudgetAt: (error: unknown) => string | undefined;
}

/** Tries a pattern, the patterns of a monitor, or both. Throws INVALID_REQUEST for one that cannot be tried, RATE_LIMITED when too many wait. */
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
    const slow = thread.overBudgetAt(error);
    if (slow === undefined) throw error;
    const isTested = question.ofMonitor === undefined || slow === question.pattern?.name;
    const what = slow === '' ? 'its patterns take' : `its pattern ${slow} takes`;
    throw isTested ? refuse('takes too long to look for') : refuse(`${what} too long to look for`, 'monitor');
  }
}

function refuse(message: string, field = 'pattern.match'): ApiError {
  return invalidRequest([{ in: 'body', field, message, allowed: 'RE2, at most 1 KiB each' }]);
}
