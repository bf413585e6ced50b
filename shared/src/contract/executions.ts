import type { ExecutionStatus, ExecutionTrigger, FailureCause } from './vocabulary.ts';
import type { Verdict, Words } from './verdict.ts';
import type { Page, WireInstant } from './wire.ts';

/** One ended run: an item of a list. */
export interface Execution {
  /** Job UID; `inferred-…` for an inferred success. */
  readonly id: string;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly cronJobUid: string;
  readonly jobName: string;
  readonly status: ExecutionStatus;
  readonly verdict: Verdict;
  readonly trigger: ExecutionTrigger;
  /** The expected run it answers; null = manual, rerun, unmatched. */
  readonly scheduledTime: WireInstant | null;
  readonly createdAt: WireInstant;
  readonly startTime: WireInstant | null;
  /** Instant of the terminal condition, for failed runs too. */
  readonly completionTime: WireInstant | null;
  /** Go text of durationSeconds. */
  readonly duration: string | null;
  readonly durationSeconds: number | null;
  readonly exitCode: number | null;
  /** Of the container that failed. */
  readonly reason: string | null;
  /** Of the Job's terminal condition. */
  readonly jobReason: string | null;
  /** On whose side it is that it failed; null = it did not, or nothing tells. `verdict.cause` is the sentence. */
  readonly cause: FailureCause | null;
  /** What else that concerns, `node node-3`; null = this CronJob alone, or not known. */
  readonly scope: string | null;
  /** Pods seen. */
  readonly attempts: number;
  readonly failedIndexes: string | null;
  readonly isRetry: boolean;
  readonly retryOf: string | null;
  readonly delayed: boolean;
  readonly inferred: boolean;
  readonly inMaintenance: boolean;
  readonly hasLogs: boolean;
  readonly hasEvents: boolean;
  readonly suggestedFix: string | null;
  /** What it said of its output, by name; empty = nothing. */
  readonly facts: Readonly<Record<string, number>>;
}

export interface ExecutionContainer {
  readonly name: string;
  readonly init: boolean;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly message: string | null;
  readonly restarts: number;
}

/** One attempt. */
export interface ExecutionPod {
  readonly name: string;
  readonly node: string | null;
  readonly phase: string;
  /** Completion index of an indexed Job. */
  readonly index: number | null;
  readonly startTime: WireInstant | null;
  readonly endTime: WireInstant | null;
  readonly containers: readonly ExecutionContainer[];
}

/** A stored log. */
export interface CapturedLog {
  readonly container: string;
  readonly text: string;
  readonly truncated: boolean;
  readonly capturedAt: WireInstant;
  /** Why the capture is empty; null = it is not. */
  readonly unavailable: string | null;
}

/** A stored event of Kubernetes. */
export interface CapturedEvent {
  readonly time: WireInstant | null;
  readonly type: string;
  readonly reason: string;
  /** Kind/name. */
  readonly object: string;
  readonly message: string;
  readonly count: number;
}

/** Why a line of a log is decisive: a pattern of a fix was found there; it is the last that speaks of an error; it is the last. */
export const decisiveReasons = ['pattern', 'word', 'lastLine'] as const;
export type DecisiveReason = (typeof decisiveReasons)[number];

/** The line of a log that says best why an attempt failed. */
export interface DecisiveLine {
  readonly pod: string;
  readonly container: string;
  /** Of the log beside it, from 1. */
  readonly number: number;
  /** At most 500 characters. */
  readonly text: string;
  readonly by: DecisiveReason;
  /** End of the first kept run of which a line that says the same was decisive; null = not known. */
  readonly firstSeenAt: WireInstant | null;
}

/** What differs from the last success: text of at most 200 characters. */
export interface ExecutionChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName} */
export interface ExecutionDetail extends Execution {
  /** The caller may not read logs: `logs` and `events` are null for that. */
  readonly withheld: boolean;
  readonly pods: readonly ExecutionPod[];
  readonly logs: CapturedLog | null;
  readonly events: readonly CapturedEvent[] | null;
  /** One an attempt whose log is kept; empty = it did not fail, no log is kept, or logs are withheld. */
  readonly decisive: readonly DecisiveLine[];
  /** Null = there is no success to compare with. */
  readonly changes: readonly ExecutionChange[] | null;
}

/** What of two runs is compared; `spec`: the rest of the Job's spec, by path. */
export const comparedKeys = [
  'image',
  'digest',
  'command',
  'args',
  'env',
  'resources',
  'spec',
  'schedule',
  'node',
  'outcome',
] as const;
export type ComparedKey = (typeof comparedKeys)[number];

export interface ComparedRow {
  readonly key: ComparedKey;
  /** Container, `container: VARIABLE`, `container: memory limit`, or path; null = there is one alone. */
  readonly name: string | null;
  /** Of the other run; null = it has none. Never the value of a variable: `set`. */
  readonly before: string | null;
  readonly after: string | null;
  readonly same: boolean;
}

export interface ComparedAttempt {
  /** Null = not known. */
  readonly pod: string | null;
  readonly durationSeconds: number | null;
  readonly failed: boolean;
}

export const logPieceKinds = ['same', 'here', 'there'] as const;

/** Lines of logs that follow each other. */
export interface LogPiece {
  /** In both, as this run has them; in this run alone; in the other alone. */
  readonly kind: (typeof logPieceKinds)[number];
  /** Number of the first line, in the log of this run, or of the other for `there`. */
  readonly from: number;
  readonly lines: readonly string[];
}

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName}/compare */
export interface RunComparison {
  /** The newest success before it, or the run that was asked for; null = there is no success before it. */
  readonly other: Execution | null;
  /** What differs: `Image and arguments differ`; null = there is no other. */
  readonly words: Words | null;
  /** What differs first. */
  readonly rows: readonly ComparedRow[];
  readonly attempts: { readonly here: readonly ComparedAttempt[]; readonly there: readonly ComparedAttempt[] };
  /** Null = of one of them no log is kept, or logs are withheld. */
  readonly log: readonly LogPiece[] | null;
  /** The caller may not read logs. */
  readonly withheld: boolean;
}

/** GET /api/v1/cronjobs/{namespace}/{name}/executions */
export type ExecutionPage = Page<Execution>;

export const executionSortKeys = ['time', 'duration', 'status'] as const;
export type ExecutionSortKey = (typeof executionSortKeys)[number];
