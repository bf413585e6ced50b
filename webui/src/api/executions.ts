import {
  runIncludes,
  type ExecutionDetail,
  type ExecutionPage,
  type ExecutionStatus,
  type ExecutionTrigger,
  type JobLogs,
  type LogSearchResult,
  type LogSource,
  type Ref,
  type RunComparison,
} from '@cronjob-monitor/shared/contract';
import { download, get, type Answer, type Query } from './client.ts';
import { pathOf } from './cronjobs.ts';

interface ExecutionQuery {
  readonly status?: readonly ExecutionStatus[];
  readonly trigger?: readonly ExecutionTrigger[];
  readonly since?: string;
  readonly until?: string;
  readonly sort?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export interface LogQuery {
  readonly container?: string;
  readonly pod?: string;
  readonly previous?: boolean;
  readonly source?: LogSource;
  readonly tailLines?: number;
}

export function listExecutions(ref: Ref, query: ExecutionQuery, signal?: AbortSignal): Promise<Answer<ExecutionPage>> {
  return get(`${pathOf(ref)}/executions`, { ...query }, signal);
}

/** A run with all that a page about it shows. */
export function getExecution(ref: Ref, jobName: string, signal?: AbortSignal): Promise<Answer<ExecutionDetail>> {
  return get(runPath(ref, jobName), { include: runIncludes }, signal);
}

/** `other`: name of the Job to compare with; undefined: the newest success before. */
export function compareRun(
  ref: Ref,
  jobName: string,
  other: string | undefined,
  signal?: AbortSignal,
): Promise<Answer<RunComparison>> {
  return get(`${runPath(ref, jobName)}/compare`, other === undefined ? {} : { with: other }, signal);
}

export function readLog(ref: Ref, jobName: string, query: LogQuery, signal?: AbortSignal): Promise<Answer<JobLogs>> {
  return get(`${runPath(ref, jobName)}/logs`, { ...query }, signal);
}

/** A part of a search through kept logs; `query.cursor` goes on where an answer ended. */
export function searchLogs(query: Query, signal?: AbortSignal): Promise<Answer<LogSearchResult>> {
  return get('logs/search', query, signal);
}

export function downloadLog(ref: Ref, jobName: string, query: LogQuery): Promise<{ blob: Blob; name: string }> {
  return download(`${runPath(ref, jobName)}/logs`, { ...query, tailLines: 10_000, format: 'text' });
}

function runPath(ref: Ref, jobName: string): string {
  return `${pathOf(ref)}/executions/${encodeURIComponent(jobName)}`;
}
