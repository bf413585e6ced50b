import type { LogHit, LogSearchResult } from '@cronjob-monitor/shared/contract';
import { findRegexProblem } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import { listLogs, type KeptLog, type LogFilter, type LogPlace, type Store } from '@cronjob-monitor/shared/store';
import { invalidRequest, tooBusy, type ApiError } from '../errors.ts';
import type { SearchAnswer, SearchQuestion } from './search-program.ts';

/** A search goes on for so long, and says then how far it came. */
const searchMs = 5_000;
/** The answer holds the hits found by then; the next request searches on from there. */
const tellMs = 500;
/** Some logs take so long at most in the thread that looks through them. */
export const partBudgetMs = 1_000;
/** Logs that are read and searched at once: each has up to a mebibyte. */
const logsAtOnce = 20;
/** A search ends when it has found so many lines; of one log the last few. */
const mostHits = 50;
const mostOfLog = 3;
const mostWaiting = 8;
const retryAfterSeconds = 5;

/** Where logs are searched: a thread with a time budget, so that no expression stalls the loop that serves all other callers. */
export interface SearchThread {
  run(question: SearchQuestion): Promise<SearchAnswer>;
  /** Questions that wait or run. */
  readonly waiting: number;
  /** Whether `run` failed because it took too long. */
  readonly isOverBudget: (error: unknown) => boolean;
}

export interface SearchWish {
  readonly wanted: string;
  readonly isRegex: boolean;
  readonly filter: LogFilter;
  /** As an earlier answer gave it. */
  readonly cursor: string | undefined;
}

/**
 * Looks through kept logs, those of the newest Jobs first, until enough is found, nothing is left or five seconds are over; with what it has
 * found it ends after half a second. Throws INVALID_REQUEST for an expression or a cursor that cannot be used, RATE_LIMITED when too many searches wait.
 */
export async function searchLogs(
  {
    store,
    clock,
    searchThread,
  }: {
    readonly store: Store;
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly searchThread: SearchThread;
  },
  { wanted, isRegex, filter, cursor }: SearchWish,
  signal: AbortSignal,
): Promise<LogSearchResult> {
  const problem = isRegex ? findRegexProblem(wanted) : undefined;
  if (problem !== undefined) throw refuse('q', problem, 'RE2, at most 1 KiB');
  const beganMs = clock.monotonicMs();
  const mayGoOn = (): boolean =>
    clock.monotonicMs() - beganMs < (items.length > 0 ? tellMs : searchMs) && !signal.aborted;
  const items: LogHit[] = [];
  let after = cursor === undefined ? undefined : readCursor(cursor);
  let isComplete = false;
  do {
    if (searchThread.waiting >= mostWaiting) throw tooBusy(retryAfterSeconds);
    const logs = await listLogs(store, filter, { after, limit: logsAtOnce });
    const found = await ask(searchThread, { wanted, isRegex, logs: logs.map(({ text }) => text), most: mostOfLog });
    for (const [at, log] of logs.entries()) {
      after = log;
      const { lines = [], count = 0 } = found[at] ?? {};
      items.push(...lines.map((line) => toHit(log, line, count)));
      if (items.length >= mostHits) break;
    }
    isComplete = logs.length < logsAtOnce && items.length < mostHits;
  } while (!isComplete && items.length < mostHits && mayGoOn());
  const searchedTo = isComplete ? filter.since : (after?.createdAt ?? filter.since);
  return {
    items,
    searchedTo: new Date(searchedTo).toISOString(),
    complete: isComplete,
    cursor: isComplete || after === undefined ? null : toCursor(after),
  };
}

async function ask(thread: SearchThread, question: SearchQuestion): Promise<SearchAnswer> {
  if (question.logs.length === 0) return [];
  try {
    return await thread.run(question);
  } catch (error) {
    if (thread.isOverBudget(error)) throw refuse('q', 'takes too long to look for', 'a simpler expression');
    throw error;
  }
}

function toHit(log: KeptLog, line: SearchAnswer[number]['lines'][number], count: number): LogHit {
  const [pod = '', container = ''] = log.name.split('/');
  return {
    cronjob: { namespace: log.namespace, name: log.cronJobName },
    jobName: log.jobName,
    at: new Date(log.endedAt).toISOString(),
    status: log.status,
    pod,
    container,
    number: line.number,
    text: line.text,
    before: line.before ?? null,
    after: line.after ?? null,
    linesFound: count,
  };
}

function toCursor({ createdAt, owner, name }: LogPlace): string {
  return Buffer.from(`${createdAt} ${owner} ${name}`).toString('base64url');
}

function readCursor(cursor: string): LogPlace {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, createdAt, owner, name] = /^(\d{1,15}) ([0-9a-f-]{36}) ([\w./-]{1,253})$/.exec(text) ?? [];
  if (createdAt === undefined || owner === undefined || name === undefined)
    throw refuse('cursor', 'is none of an answer', 'the cursor of the answer before');
  return { createdAt: Number(createdAt), owner, name };
}

function refuse(field: string, message: string, allowed: string): ApiError {
  return invalidRequest([{ in: 'query', field, message, allowed }]);
}
