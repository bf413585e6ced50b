import { parentPort } from 'node:worker_threads';
import { compileRegex, searchLog, type FoundLine } from '@cronjob-monitor/shared/domain';
import type { ThreadAnswer } from '@cronjob-monitor/shared/process';

/** What is looked for in some logs. Plain values: it crosses from thread to thread. */
export interface SearchQuestion {
  readonly wanted: string;
  /** RE2; else a text, upper and lower case alike. */
  readonly isRegex: boolean;
  readonly logs: readonly string[];
  /** Lines of one log at most. */
  readonly most: number;
}

/** What was found in each log, in their order. */
export type SearchAnswer = readonly { readonly lines: readonly FoundLine[]; readonly count: number }[];

/** The program of the thread in which logs are searched. */
parentPort?.on('message', (question: SearchQuestion) => {
  try {
    post({ kind: 'output', output: search(question) });
  } catch (error) {
    post({ kind: 'failure', message: error instanceof Error ? error.message : String(error) });
  }
});
post({ kind: 'ready' });

function search({ wanted, isRegex, logs, most }: SearchQuestion): SearchAnswer {
  const nothing = { lines: [], count: 0 };
  if (isRegex) {
    const regex = compileRegex(wanted);
    return logs.map((log) => searchLog(log, (line) => regex.finds(line), most));
  }
  const small = wanted.toLowerCase();
  return logs.map((log) =>
    log.toLowerCase().includes(small) ? searchLog(log, (line) => line.toLowerCase().includes(small), most) : nothing,
  );
}

function post(answer: ThreadAnswer<SearchAnswer>): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
  parentPort?.postMessage(answer);
}
