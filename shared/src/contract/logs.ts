import type { DecisiveLine } from './executions.ts';
import type { ExecutionStatus } from './vocabulary.ts';
import type { Ref, WireInstant } from './wire.ts';

export const logSources = ['auto', 'live', 'stored'] as const;
export type LogSource = (typeof logSources)[number];

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName}/logs */
export interface JobLogs {
  readonly jobName: string;
  readonly pod: string | null;
  readonly container: string;
  readonly containers: readonly string[];
  readonly source: 'live' | 'stored';
  readonly logs: string;
  readonly lines: number;
  /** Earlier lines exist or existed. */
  readonly truncated: boolean;
  /** Null = live. */
  readonly capturedAt: WireInstant | null;
  /** Those of this log; empty = its run did not fail, or they stand before what is shown. */
  readonly decisive: readonly DecisiveLine[];
}

/** A line of a kept log in which something was found. */
export interface LogHit {
  readonly cronjob: Ref;
  readonly jobName: string;
  /** End of the run. */
  readonly at: WireInstant;
  readonly status: ExecutionStatus;
  readonly pod: string;
  readonly container: string;
  /** Of the log, from 1. */
  readonly number: number;
  /** It and its neighbours, at most 500 characters each; null = the log begins or ends here. */
  readonly text: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Lines of this log in which it was found; the last three are told. */
  readonly linesFound: number;
}

/** GET /api/v1/logs/search */
export interface LogSearchResult {
  /** Those of the newest Jobs first. */
  readonly items: readonly LogHit[];
  /** Logs of Jobs that were created since then have been looked through. */
  readonly searchedTo: WireInstant;
  /** Nothing is left to look through. */
  readonly complete: boolean;
  /** Where another search goes on; null = `complete`. */
  readonly cursor: string | null;
}
