import { DecisiveLine } from './executions.ts';
import { bool, count, instant, listOf, nullable, object, type Of, text, words } from './shape/shape.ts';
import { executionStatuses } from './vocabulary.ts';
import { Ref } from './wire.ts';

export const logSources = ['auto', 'live', 'stored'] as const;
export type LogSource = (typeof logSources)[number];

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName}/logs */
export const JobLogs = object('JobLogs', {
  jobName: text,
  pod: nullable(text),
  container: text,
  containers: listOf(text),
  source: words(['live', 'stored']),
  logs: text,
  lines: count,
  /** Earlier lines exist or existed. */
  truncated: bool,
  /** Null = live. */
  capturedAt: nullable(instant),
  /** Those of this log; empty = its run did not fail, or they stand before what is shown. */
  decisive: listOf(DecisiveLine),
});
export type JobLogs = Of<typeof JobLogs>;

/** A line of a kept log in which something was found. */
export const LogHit = object({
  cronjob: Ref,
  jobName: text,
  /** End of the run. */
  at: instant,
  status: words(executionStatuses),
  pod: text,
  container: text,
  /** Of the log, from 1. */
  number: count,
  /** It and its neighbours, at most 500 characters each; null = the log begins or ends here. */
  text,
  before: nullable(text),
  after: nullable(text),
  /** Lines of this log in which it was found; the last three are told. */
  linesFound: count,
});
export type LogHit = Of<typeof LogHit>;

/** GET /api/v1/logs/search */
export const LogSearchResult = object('LogSearchResult', {
  /** Those of the newest Jobs first. */
  items: listOf(LogHit),
  /** Logs of Jobs that were created since then have been looked through. */
  searchedTo: instant,
  /** Nothing is left to look through. */
  complete: bool,
  /** Where another search goes on; null = `complete`. */
  cursor: nullable(text),
});
export type LogSearchResult = Of<typeof LogSearchResult>;
