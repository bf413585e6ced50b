import { CronJobDetail } from './cronjobs.ts';
import {
  CapturedEvent,
  CapturedLog,
  DecisiveLine,
  Execution,
  ExecutionChange,
  ExecutionPod,
  RunComparison,
} from './executions.ts';
import { logsUnavailableReasons } from './errors.ts';
import { JobLogs } from './logs.ts';
import { bool, extended, id, listOf, named, nullable, object, type Of, optional, words } from './shape/shape.ts';
import { Verdict } from './verdict.ts';
import { alertStates, alertTypes, severities } from './vocabulary.ts';

/** What `include` of a run can name: all that a page about it shows. `events` are in the answer in any case. */
export const runIncludes = ['logs', 'events', 'compare', 'around', 'cronjob'] as const;
export type RunInclude = (typeof runIncludes)[number];

/** Runs of the same name beside one. */
export const RunsAround = object('RunsAround', {
  /** Newest first. */
  before: listOf(Execution, 12),
  /** Null = it is the newest. */
  after: nullable(Execution),
});
export type RunsAround = Of<typeof RunsAround>;

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName} */
export const ExecutionDetail = named(
  'ExecutionDetail',
  extended(Execution, {
    /** The caller may not read logs: `logs` and `events` are null for that. */
    withheld: bool,
    pods: listOf(ExecutionPod),
    logs: nullable(CapturedLog),
    events: nullable(listOf(CapturedEvent)),
    /** One an attempt whose log is kept; empty = it did not fail, no log is kept, or logs are withheld. */
    decisive: listOf(DecisiveLine),
    /** What speaks of it: open ones first, then those that ended since it began, the newest first. */
    alerts: listOf(
      object({ id, type: words(alertTypes), severity: words(severities), state: words(alertStates), verdict: Verdict }),
    ),
    /** Null = there is no success to compare with. */
    changes: nullable(listOf(ExecutionChange)),
    /** With `include=logs`: what `…/logs` answers; null = it cannot be had, or not within 2 s. */
    log: optional(nullable(JobLogs)),
    /** With `include=logs` where there is none: the reason that `…/logs` would give; absent = that endpoint has to be asked. */
    noLog: optional(words(logsUnavailableReasons)),
    /** With `include=compare`: what `…/compare` answers. */
    compare: optional(RunComparison),
    /** With `include=around`. */
    around: optional(RunsAround),
    /** With `include=cronjob`. */
    cronjob: optional(CronJobDetail),
  }),
);
export type ExecutionDetail = Of<typeof ExecutionDetail>;
