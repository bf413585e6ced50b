import type { SettingInForce } from './coverage.ts';
import type { Alert } from './alerts.ts';
import type { Execution } from './executions.ts';
import type { CronJobSummary } from './stats.ts';
import type {
  AlertSubject,
  AlertType,
  ConcurrencyPolicy,
  CronJobKind,
  CronJobStatus,
  ExecutionStatus,
  ExecutionTrigger,
  RolloutState,
  ScheduleProblem,
  Severity,
  SlaSubject,
  SlaVerdict,
  SlotOutcome,
} from './vocabulary.ts';
import type { StateCounts, Verdict } from './verdict.ts';
import type { List, Percent, Ref, WireInstant } from './wire.ts';

/** A CronJob against its leading monitor's success rate. */
export interface CronJobSla {
  readonly enabled: boolean;
  /** Null = no target. */
  readonly minSuccessRate: Percent | null;
  readonly windowDays: number;
  readonly verdict: SlaVerdict;
  readonly success: number;
  readonly runs: number;
  readonly previousSuccessRate: Percent | null;
  /** Subjects with an active alert. */
  readonly breached: readonly SlaSubject[];
}

export interface LastExecution {
  readonly jobName: string;
  readonly status: ExecutionStatus;
  readonly startTime: WireInstant | null;
  readonly completionTime: WireInstant | null;
  readonly durationSeconds: number | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
}

export interface WorstAlert {
  readonly id: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | null;
  readonly severity: Severity;
  readonly since: WireInstant;
  readonly occurrences: number;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly measured: number | null;
  readonly limit: number | null;
  readonly unit: string | null;
}

/** One bar of the run strip: a run, or an expected run that came to nothing. */
export interface RecentRun {
  readonly at: WireInstant;
  readonly outcome: SlotOutcome | null;
  readonly status: ExecutionStatus | null;
  readonly durationSeconds: number | null;
  /** The run behind it; null = there is none. */
  readonly jobName: string | null;
}

/** A run of the present job template that ended by itself. */
export interface RolloutRun {
  readonly jobName: string;
  readonly status: ExecutionStatus;
  readonly createdAt: WireInstant;
  readonly completionTime: WireInstant | null;
}

/** How the present job template of a CronJob fares, whatever earlier ones did. */
export interface Rollout {
  readonly state: RolloutState;
  /** One sentence. */
  readonly message: string;
  /** The first 8 hexadecimal digits of its hash; null = it was not read yet. */
  readonly template: string | null;
  /** When it was written; null with template. */
  readonly changedAt: WireInstant | null;
  /** `metadata.generation` of the CronJob that this is about. */
  readonly generation: number;
  /** The first that was created since changedAt; null = none has ended. */
  readonly firstRun: RolloutRun | null;
  readonly nextRun: WireInstant | null;
}

/** What list item and detail have alike. */
interface CronJobBase {
  readonly namespace: string;
  readonly name: string;
  /** `Jobs`: a group of Jobs that no CronJob controls, named `~` and what they have in common. */
  readonly kind: CronJobKind;
  /** Of the present object, or of the last one when deleted; of a group, made of its name. */
  readonly uid: string;
  readonly status: CronJobStatus;
  readonly verdict: Verdict;
  readonly suspended: boolean;
  /** Unfinished Jobs it owns, manual ones included. */
  readonly runningJobs: number;
  /** Empty: a group of Jobs has none. */
  readonly schedule: string;
  /** Null = the cluster's default. */
  readonly timezone: string | null;
  readonly scheduleProblem: ScheduleProblem | null;
  readonly concurrencyPolicy: ConcurrencyPolicy;
  /** The leading monitor. */
  readonly monitorRef: Ref | null;
  readonly monitors: readonly Ref[];
  readonly successRate: Percent | null;
  readonly sla: CronJobSla;
  readonly lastExecution: LastExecution | null;
  readonly lastSuccess: WireInstant | null;
  /** Null = suspended, deleted, or it has a scheduleProblem. */
  readonly nextRun: WireInstant | null;
  readonly rollout: Rollout;
}

interface CronJobTail {
  /** Alerts in state pending or suppressed. */
  readonly heldAlerts: number;
  readonly worstAlert: WorstAlert | null;
  /** Null = it exists. */
  readonly deletedAt: WireInstant | null;
  /** Oldest first. Only there when `recent` asked for some. */
  readonly recentRuns?: readonly RecentRun[];
}

export interface CronJob extends CronJobBase, CronJobTail {
  readonly activeAlerts: number;
}

/** GET /api/v1/cronjobs */
export interface CronJobList extends List<CronJob> {
  /** What all filters but `status` and `state` let through. */
  readonly summary: CronJobSummary;
  /** The same, each once. */
  readonly states: StateCounts;
}

/** Scheduled success and failed runs; durations over the successful ones. */
export interface CronJobMetrics {
  readonly windowDays: number;
  readonly successRate: Percent | null;
  readonly totalRuns: number;
  readonly successfulRuns: number;
  readonly failedRuns: number;
  readonly successRate7d: Percent | null;
  readonly successRate30d: Percent | null;
  readonly avgDurationSeconds: number | null;
  readonly p50DurationSeconds: number | null;
  readonly p95DurationSeconds: number | null;
  readonly p99DurationSeconds: number | null;
  readonly approximate: boolean;
}

export interface ActiveJob {
  readonly jobName: string;
  readonly trigger: ExecutionTrigger;
  readonly startTime: WireInstant | null;
  /** Go text of runningSeconds. */
  readonly runningDuration: string | null;
  readonly runningSeconds: number | null;
  readonly podName: string | null;
  readonly podPhase: string | null;
  /** Ready containers of all, `1/1`. */
  readonly ready: string | null;
  /** Decided, pods still ending. */
  readonly finishing: boolean;
  /** What keeps a container of it from starting, `CreateContainerConfigError`; null = nothing, or not known. */
  readonly waitingReason: string | null;
  /** What Kubernetes says of it, at most 500 characters. */
  readonly waitingMessage: string | null;
}

export const deadManBases = ['success', 'firstSlot'] as const;
export type DeadManBasis = (typeof deadManBases)[number];

/** GET /api/v1/cronjobs/{namespace}/{name} */
export interface CronJobDetail extends CronJobBase, CronJobTail {
  readonly activeAlerts: readonly Alert[];
  readonly createdAt: WireInstant | null;
  readonly owner: string | null;
  readonly description: string | null;
  readonly runbook: string | null;
  /** What it waits for, by its annotation and its monitors. */
  readonly dependsOn: readonly Ref[];
  readonly startingDeadlineSeconds: number | null;
  /** Runs due before it are judged. */
  readonly evaluatedThrough: WireInstant | null;
  /** When the dead-man's switch fires without a success, or has; null = it is off, paused, or nothing is due. */
  readonly deadManDueAt: WireInstant | null;
  /** What it counts from: the last success, or the first expected run of a CronJob that never succeeded; null with deadManDueAt. */
  readonly deadManBasis: DeadManBasis | null;
  /** Oldest kept run. */
  readonly historyFrom: WireInstant | null;
  /** Names of the facts that its kept runs told. */
  readonly facts: readonly string[];
  /** What of the facts of its newest run was ignored, in sentences. */
  readonly factProblems: readonly string[];
  /** What is in force for it, under each of its monitors. */
  readonly settings: readonly SettingInForce[];
  /** Its annotations, and those of its Namespace, that do nothing, in sentences. */
  readonly annotationProblems: readonly string[];
  readonly metrics: CronJobMetrics;
  readonly activeJobs: readonly ActiveJob[];
  /** The newest 20. */
  readonly executions: readonly Execution[];
}

export const cronJobSortKeys = [
  'name',
  'namespace',
  'status',
  'successRate',
  'verdict',
  'lastRun',
  'duration',
  'lastSuccess',
  'nextRun',
  'activeAlerts',
] as const;
export type CronJobSortKey = (typeof cronJobSortKeys)[number];

/** POST …/trigger */
export interface TriggerResult {
  readonly success: boolean;
  readonly jobName: string;
  readonly message: string;
}

/** POST …/suspend, POST …/resume */
export interface SuspendResult {
  readonly success: boolean;
  readonly message: string;
  readonly suspended: boolean;
  /** False: it was so already, nothing was written. */
  readonly changed: boolean;
}

/** DELETE …/history */
export interface DeleteHistoryResult {
  readonly success: boolean;
  readonly deletedCount: number;
  readonly message: string;
  /** False: the time for one call ran out; call again. */
  readonly completed: boolean;
}
