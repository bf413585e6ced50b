import {
  bool,
  count,
  instant,
  int,
  listOf,
  mapOf,
  nullable,
  number,
  object,
  optional,
  type Of,
  seconds,
  text,
  words,
} from './shape/shape.ts';
import { Verdict } from './verdict.ts';
import { executionStatuses, executionTriggers, failureCauses, comparedKeys } from './vocabulary.ts';
import { pageFields } from './wire.ts';

/** One ended run: an item of a list. */
export const Execution = object('Execution', {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  /** Job UID; `inferred-…` for an inferred success. */
  id: text,
  namespace: text,
  cronJobName: text,
  cronJobUid: text,
  jobName: text,
  status: words(executionStatuses),
  verdict: Verdict,
  trigger: words(executionTriggers),
  /** The expected run it answers; null = manual, rerun, unmatched. */
  scheduledTime: nullable(instant),
  createdAt: instant,
  startTime: nullable(instant),
  /** Instant of the terminal condition, for failed runs too. */
  completionTime: nullable(instant),
  /** Go text of durationSeconds. */
  duration: nullable(text),
  durationSeconds: nullable(seconds),
  exitCode: nullable(int),
  /** Of the container that failed. */
  reason: nullable(text),
  /** Of the Job's terminal condition. */
  jobReason: nullable(text),
  /** On whose side it is that it failed; null = it did not, or nothing tells. `verdict.cause` is the sentence. */
  cause: nullable(words(failureCauses)),
  /** What else that concerns, `node node-3`; null = this CronJob alone, or not known. */
  scope: nullable(text),
  /** Pods seen. */
  attempts: count,
  failedIndexes: nullable(text),
  isRetry: bool,
  retryOf: nullable(text),
  delayed: bool,
  inferred: bool,
  inMaintenance: bool,
  hasLogs: bool,
  hasEvents: bool,
  suggestedFix: nullable(text),
  /** What it said of its output, by name; empty = nothing. */
  facts: mapOf(number),
});
export type Execution = Of<typeof Execution>;

const ExecutionContainer = object({
  name: text,
  init: bool,
  exitCode: nullable(int),
  reason: nullable(text),
  message: nullable(text),
  restarts: int,
});

/** One attempt. */
export const ExecutionPod = object({
  name: text,
  node: nullable(text),
  phase: text,
  /** Completion index of an indexed Job. */
  index: nullable(int),
  startTime: nullable(instant),
  endTime: nullable(instant),
  containers: listOf(ExecutionContainer),
});
export type ExecutionPod = Of<typeof ExecutionPod>;

/** A stored log. */
export const CapturedLog = object('CapturedLog', {
  container: text,
  text,
  truncated: bool,
  capturedAt: instant,
  /** Why the capture is empty; null = it is not. */
  unavailable: nullable(text),
});
export type CapturedLog = Of<typeof CapturedLog>;

/** A stored event of Kubernetes. */
export const CapturedEvent = object('CapturedEvent', {
  time: nullable(instant),
  type: text,
  reason: text,
  /** Kind/name. */
  object: text,
  message: text,
  count: int,
});
export type CapturedEvent = Of<typeof CapturedEvent>;

/** Why a line of a log is decisive: a pattern of a fix was found there; it is the last that speaks of an error; it is the last. */
const decisiveReasons = ['pattern', 'word', 'lastLine'] as const;
export type DecisiveReason = (typeof decisiveReasons)[number];

/** The line of a log that says best why an attempt failed. */
export const DecisiveLine = object('DecisiveLine', {
  pod: text,
  container: text,
  /** Of the log beside it, from 1. */
  number: count,
  /** At most 500 characters. */
  text,
  by: words(decisiveReasons),
  /** End of the first kept run of which a line that says the same was decisive; null = not known. */
  firstSeenAt: nullable(instant),
});
export type DecisiveLine = Of<typeof DecisiveLine>;

/** What differs from the last success: text of at most 200 characters. */
export const ExecutionChange = object({ path: text, before: nullable(text), after: nullable(text) });
export type ExecutionChange = Of<typeof ExecutionChange>;

export const ComparedRow = object({
  key: words(comparedKeys),
  /** Container, `container: VARIABLE`, `container: memory limit`, or path; null = there is one alone. */
  name: nullable(text),
  /** Of the other run; null = it has none. Never the value of a variable: `set`. */
  before: nullable(text),
  after: nullable(text),
  same: bool,
});
export type ComparedRow = Of<typeof ComparedRow>;

export const ComparedAttempt = object({
  /** Null = not known. */
  pod: nullable(text),
  durationSeconds: nullable(seconds),
  failed: bool,
});
export type ComparedAttempt = Of<typeof ComparedAttempt>;

const logPieceKinds = ['same', 'here', 'there'] as const;

/** Lines of logs that follow each other. */
export const LogPiece = object({
  /** In both, as this run has them; in this run alone; in the other alone. */
  kind: words(logPieceKinds),
  /** Number of the first line, in the log of this run, or of the other for `there`. */
  from: count,
  lines: listOf(text),
});
export type LogPiece = Of<typeof LogPiece>;

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName}/compare */
export const RunComparison = object('RunComparison', {
  /** The newest success before it, or the run that was asked for; null = there is no success before it. */
  other: nullable(Execution),
  /** What differs: `Image and arguments differ`; null = there is no other. */
  words: nullable(text),
  /** What differs first. */
  rows: listOf(ComparedRow),
  attempts: object({ here: listOf(ComparedAttempt), there: listOf(ComparedAttempt) }),
  /** Null = of one of them no log is kept, or logs are withheld. */
  log: nullable(listOf(LogPiece)),
  /** The caller may not read logs. */
  withheld: bool,
});
export type RunComparison = Of<typeof RunComparison>;

/** GET /api/v1/cronjobs/{namespace}/{name}/executions */
export const ExecutionPage = object('ExecutionPage', pageFields(Execution));
export type ExecutionPage = Of<typeof ExecutionPage>;

export const executionSortKeys = ['time', 'duration', 'status'] as const;
