import { AdviceList } from './advice.ts';
import { Alert } from './alerts.ts';
import { CronJobRoutes, SettingInForce } from './coverage.ts';
import { Execution, ExecutionPage } from './executions.ts';
import {
  bool,
  count,
  extended,
  id,
  instant,
  int,
  listOf,
  named,
  nullable,
  number,
  object,
  type Of,
  optional,
  percent,
  seconds,
  text,
  words,
} from './shape/shape.ts';
import { SlaTarget } from './sla.ts';
import { SlotPage } from './slots.ts';
import { CronJobSummary } from './stats.ts';
import { TonightItem } from './tonight.ts';
import { StateCounts, Verdict } from './verdict.ts';
import {
  alertSubjects,
  alertTypes,
  concurrencyPolicies,
  cronJobKinds,
  cronJobStatuses,
  executionStatuses,
  executionTriggers,
  rolloutStates,
  scheduleProblems,
  severities,
  slaSubjects,
  slaVerdicts,
  slotOutcomes,
} from './vocabulary.ts';
import { listFields, missing, Ref } from './wire.ts';

/** A CronJob against its leading monitor's success rate. */
export const CronJobSla = object({
  enabled: bool,
  /** Null = no target. */
  minSuccessRate: nullable(percent),
  windowDays: int,
  verdict: words(slaVerdicts),
  success: count,
  runs: count,
  previousSuccessRate: nullable(percent),
  /** Subjects with an active alert. */
  breached: listOf(words(slaSubjects)),
});
export type CronJobSla = Of<typeof CronJobSla>;

export const LastExecution = object({
  jobName: text,
  status: words(executionStatuses),
  startTime: nullable(instant),
  completionTime: nullable(instant),
  durationSeconds: nullable(seconds),
  exitCode: nullable(int),
  reason: nullable(text),
});
export type LastExecution = Of<typeof LastExecution>;

export const WorstAlert = object({
  id,
  type: words(alertTypes),
  subject: nullable(words(alertSubjects)),
  severity: words(severities),
  since: instant,
  occurrences: count,
  exitCode: nullable(int),
  reason: nullable(text),
  measured: nullable(number),
  limit: nullable(number),
  unit: nullable(text),
});
export type WorstAlert = Of<typeof WorstAlert>;

/** One bar of the run strip: a run, or an expected run that came to nothing. */
export const RecentRun = object({
  at: instant,
  outcome: nullable(words(slotOutcomes)),
  status: nullable(words(executionStatuses)),
  durationSeconds: nullable(seconds),
  /** The run behind it; null = there is none. */
  jobName: nullable(text),
});
export type RecentRun = Of<typeof RecentRun>;

/** A run of the present job template that ended by itself. */
const RolloutRun = object({
  jobName: text,
  status: words(executionStatuses),
  createdAt: instant,
  completionTime: nullable(instant),
});

/** How the present job template of a CronJob fares, whatever earlier ones did. */
export const Rollout = object({
  state: words(rolloutStates),
  /** One sentence. */
  message: text,
  /** The first 8 hexadecimal digits of its hash; null = it was not read yet. */
  template: nullable(text),
  /** When it was written; null with template. */
  changedAt: nullable(instant),
  /** `metadata.generation` of the CronJob that this is about. */
  generation: count,
  /** The first that was created since changedAt; null = none has ended. */
  firstRun: nullable(RolloutRun),
  nextRun: nullable(instant),
});
export type Rollout = Of<typeof Rollout>;

/** What has to be known of a CronJob before something is done with it. */
export const actedOnFields = {
  suspended: bool,
  /** Unfinished Jobs it owns, manual ones included. */
  runningJobs: count,
  /** Empty: a group of Jobs has none. */
  schedule: text,
  /** Null = the cluster's default. */
  timezone: nullable(text),
  scheduleProblem: nullable(words(scheduleProblems)),
  concurrencyPolicy: words(concurrencyPolicies),
  /** The leading monitor. */
  monitorRef: nullable(Ref),
};

/** What list item and detail have alike. */
const cronJobFields = {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  namespace: text,
  name: text,
  /** `Jobs`: a group of Jobs that no CronJob controls, named `~` and what they have in common. */
  kind: words(cronJobKinds),
  /** Of the present object, or of the last one when deleted; of a group, made of its name. */
  uid: text,
  status: words(cronJobStatuses),
  verdict: Verdict,
  ...actedOnFields,
  monitors: listOf(Ref),
  successRate: nullable(percent),
  sla: CronJobSla,
  lastExecution: nullable(LastExecution),
  lastSuccess: nullable(instant),
  /** Null = suspended, deleted, or it has a scheduleProblem. */
  nextRun: nullable(instant),
  rollout: Rollout,
  activeAlerts: count,
  /** Alerts in state pending or suppressed. */
  heldAlerts: count,
  worstAlert: nullable(WorstAlert),
  /** Null = it exists. */
  deletedAt: nullable(instant),
  /** Oldest first. Only there when `recent` asked for some. */
  recentRuns: optional(listOf(RecentRun)),
};

export const CronJob = object('CronJob', cronJobFields);
export type CronJob = Of<typeof CronJob>;

/** GET /api/v1/cronjobs */
export const CronJobList = named(
  'CronJobList',
  extended(listFields(CronJob), {
    missing,
    /** What all filters but `status` and `state` let through. */
    summary: CronJobSummary,
    /** The same, each once. */
    states: StateCounts,
  }),
);
export type CronJobList = Of<typeof CronJobList>;

/** Scheduled success and failed runs; durations over the successful ones. */
export const CronJobMetrics = object({
  windowDays: int,
  successRate: nullable(percent),
  totalRuns: count,
  successfulRuns: count,
  failedRuns: count,
  successRate7d: nullable(percent),
  successRate30d: nullable(percent),
  avgDurationSeconds: nullable(seconds),
  p50DurationSeconds: nullable(seconds),
  p95DurationSeconds: nullable(seconds),
  p99DurationSeconds: nullable(seconds),
  approximate: bool,
});
export type CronJobMetrics = Of<typeof CronJobMetrics>;

export const ActiveJob = object({
  jobName: text,
  trigger: words(executionTriggers),
  startTime: nullable(instant),
  /** Go text of runningSeconds. */
  runningDuration: nullable(text),
  runningSeconds: nullable(seconds),
  podName: nullable(text),
  podPhase: nullable(text),
  /** Ready containers of all, `1/1`. */
  ready: nullable(text),
  /** Decided, pods still ending. */
  finishing: bool,
  /** What keeps a container of it from starting, `CreateContainerConfigError`; `Suspended` = the Job is; null = nothing, or not known. */
  waitingReason: nullable(text),
  /** What Kubernetes says of it, at most 500 characters. */
  waitingMessage: nullable(text),
});
export type ActiveJob = Of<typeof ActiveJob>;

const deadManBases = ['success', 'firstSlot'] as const;

/** What `include` of a CronJob can name: answers of its other endpoints. */
export const cronJobIncludes = ['runs', 'slots', 'route', 'advice', 'tonight', 'targets'] as const;
export type CronJobInclude = (typeof cronJobIncludes)[number];

/** GET /api/v1/cronjobs/{namespace}/{name} */
export const CronJobDetail = named(
  'CronJobDetail',
  extended(cronJobFields, {
    activeAlerts: listOf(Alert),
    createdAt: nullable(instant),
    owner: nullable(text),
    description: nullable(text),
    runbook: nullable(text),
    /** What it waits for, by its annotation and its monitors. */
    dependsOn: listOf(Ref),
    startingDeadlineSeconds: nullable(number),
    /** Runs due before it are judged. */
    evaluatedThrough: nullable(instant),
    /** When the dead-man's switch fires without a success, or has; null = it is off, paused, or nothing is due. */
    deadManDueAt: nullable(instant),
    /** What it counts from: the last success, or the first expected run of a CronJob that never succeeded; null with deadManDueAt. */
    deadManBasis: nullable(words(deadManBases)),
    /** Oldest kept run. */
    historyFrom: nullable(instant),
    /** Names of the facts that its kept runs told. */
    facts: listOf(text, 32),
    /** What of the facts of its newest run was ignored, in sentences. */
    factProblems: listOf(text, 32),
    /** What is in force for it, under each of its monitors. */
    settings: listOf(SettingInForce),
    /** Its annotations, and those of its Namespace, that do nothing, in sentences. */
    annotationProblems: listOf(text),
    metrics: CronJobMetrics,
    activeJobs: listOf(ActiveJob),
    /** The newest 20. */
    executions: listOf(Execution, 20),
    /** With `include=runs`: what `…/executions` answers without parameters. */
    runs: optional(ExecutionPage),
    /** With `include=slots`: the newest 20 expected runs of 30 days that no run answered. */
    slots: optional(SlotPage),
    /** With `include=route`: who hears now if it fails; null = no monitor selects it. */
    route: optional(nullable(CronJobRoutes)),
    /** With `include=advice`: what `/advice` says of it, the worst two findings. */
    advice: optional(AdviceList),
    /** With `include=tonight`: its item of `/tonight`; null = no run to come by then is at risk. */
    tonight: optional(nullable(TonightItem)),
    /** With `include=targets`: what `/sla` says of it, the days aside. */
    targets: optional(listOf(SlaTarget)),
  }),
);
export type CronJobDetail = Of<typeof CronJobDetail>;

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
export const TriggerResult = object('TriggerResult', { success: bool, jobName: text, message: text });
export type TriggerResult = Of<typeof TriggerResult>;

/** POST …/suspend, POST …/resume */
export const SuspendResult = object('SuspendResult', {
  success: bool,
  message: text,
  suspended: bool,
  /** False: it was so already, nothing was written. */
  changed: bool,
});
export type SuspendResult = Of<typeof SuspendResult>;

/** DELETE …/history */
export const DeleteHistoryResult = object('DeleteHistoryResult', {
  success: bool,
  deletedCount: count,
  message: text,
  /** False: the time for one call ran out; call again. */
  completed: bool,
});
export type DeleteHistoryResult = Of<typeof DeleteHistoryResult>;
