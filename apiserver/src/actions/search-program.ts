import { parentPort } from 'node:worker_threads';
import { answerInThread } from '@cronjob-monitor/shared/contract';
import { compileRegex, searchLog, type FoundLine } from '@cronjob-monitor/shared/domain';

/** A search over some logs. Plain values, since it crosses to a worker thread. */
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
answerInThread(parentPort, search);

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
