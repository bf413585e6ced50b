/**
 * The closed sets of words that API, database, metrics, resources and user interface share.
 * Order matters where a comment says so: lists are sorted by it.
 */

/** Severities of an alert, worst first. */
export const severities = ['critical', 'warning'] as const;
export type Severity = (typeof severities)[number];

/** What a message may carry besides: `info` marks tests and digests and is never an alert's severity. */
export const messageSeverities = ['critical', 'warning', 'info'] as const;
export type MessageSeverity = (typeof messageSeverities)[number];

export const alertTypes = [
  'jobFailed',
  'missedSchedule',
  'deadManTriggered',
  'slaBreached',
  'durationRegression',
  'jobSuspended',
  'jobStuck',
  'absent',
] as const;
export type AlertType = (typeof alertTypes)[number];

/** What of a target is broken, worst first in lists. */
export const slaSubjects = ['successRate', 'maxDuration', 'minDuration', 'finishBy'] as const;
export type SlaSubject = (typeof slaSubjects)[number];

const stuckSubjects = ['notStarted', 'overrunning', 'terminating'] as const;
export type StuckSubject = (typeof stuckSubjects)[number];

/** What is not there: a success, or the CronJob itself. */
const absentSubjects = ['neverSucceeded', 'disappeared'] as const;

/** Which of several conditions of one type: absent for types that have just one. */
export const alertSubjects = [...slaSubjects, 'output', ...stuckSubjects, ...absentSubjects] as const;
export type AlertSubject = (typeof alertSubjects)[number];

/** `edge`: something happened. `level`: something is so, and can be asked again at any time. */
type AlertKind = 'edge' | 'level';

/** All alerts of a type have it, or those about these subjects. Absent: none has. */
type TraitOf = true | readonly AlertSubject[];

/** What is wrong where an alert of a type is open. */
export type Trouble = 'failure' | 'absence' | 'stuck' | 'target' | 'suspension';

interface AlertTypeRow {
  /** Value of the label `type` in metrics. */
  readonly label: string;
  /** Unless a monitor's severityOverrides says otherwise. */
  readonly severity: Severity;
  readonly kind: AlertKind;
  readonly subjects: readonly AlertSubject[];
  readonly trouble: Trouble;
  /** Of two incidents in one state the one with the lower comes first; each type has its own. */
  readonly rank: number;
  /** One outage of the cluster brings it about for many CronJobs at once. */
  readonly joinsStorms?: TraitOf;
  /** A success ends it as it ends itself. */
  readonly endsWithSuccess?: TraitOf;
  /** Computed over a window, so that it may cross its limit to and fro. */
  readonly isOverWindow?: TraitOf;
  /** Of one alert, in few words and without figures; its subject says it more closely. */
  readonly name: string;
  /** For people, to stand before `alert`; the code stays in addresses, filters and manifests. */
  readonly words: string;
  /** What ends one, unless its subject says it more closely. */
  readonly endsWhen: string;
  /** What would have to happen, after `If`. */
  readonly ifSo: string;
  /** How a CronJob of which it holds stands, before the time from which on. */
  readonly sinceWhen: string;
}

/** One row for each alert type: adding a type begins here. */
export const alertTypeTable: Readonly<Record<AlertType, AlertTypeRow>> = {
  jobFailed: {
    label: 'JobFailed',
    severity: 'warning',
    kind: 'edge',
    subjects: [],
    trouble: 'failure',
    rank: 4,
    endsWithSuccess: true,
    name: 'job failed',
    words: 'failed run',
    endsWhen: 'a run succeeds',
    ifSo: 'it failed',
    sinceWhen: 'failed',
  },
  missedSchedule: {
    label: 'MissedSchedule',
    severity: 'warning',
    kind: 'edge',
    subjects: [],
    trouble: 'absence',
    rank: 3,
    joinsStorms: true,
    name: 'missed schedule',
    words: 'missed run',
    endsWhen: 'a later run starts',
    ifSo: 'it missed a run',
    sinceWhen: 'missed a run',
  },
  deadManTriggered: {
    label: 'DeadManSwitch',
    severity: 'critical',
    kind: 'level',
    subjects: [],
    trouble: 'absence',
    rank: 2,
    joinsStorms: true,
    endsWithSuccess: true,
    name: 'no recent success',
    words: "dead-man's switch",
    endsWhen: 'a run succeeds',
    ifSo: 'it had no success for too long',
    sinceWhen: 'without a success since',
  },
  slaBreached: {
    label: 'SLABreached',
    severity: 'warning',
    kind: 'level',
    subjects: [...slaSubjects, 'output'],
    trouble: 'target',
    rank: 6,
    isOverWindow: ['successRate'],
    name: 'target missed',
    words: 'missed target',
    endsWhen: 'the target is met again',
    ifSo: 'it broke its SLA',
    sinceWhen: 'below its target since',
  },
  durationRegression: {
    label: 'DurationRegression',
    severity: 'warning',
    kind: 'level',
    subjects: [],
    trouble: 'target',
    rank: 7,
    isOverWindow: true,
    name: 'slower than before',
    words: 'slower runs',
    endsWhen: 'p95 is back under its limit',
    ifSo: 'it became slower',
    sinceWhen: 'slower since',
  },
  jobSuspended: {
    label: 'JobSuspended',
    severity: 'warning',
    kind: 'level',
    subjects: [],
    trouble: 'suspension',
    rank: 8,
    name: 'suspended',
    words: 'suspended CronJob',
    endsWhen: 'it is resumed',
    ifSo: 'it stayed suspended',
    sinceWhen: 'suspended since',
  },
  jobStuck: {
    label: 'JobStuck',
    severity: 'warning',
    kind: 'level',
    subjects: stuckSubjects,
    trouble: 'stuck',
    rank: 5,
    joinsStorms: ['notStarted'],
    name: 'job stuck',
    words: 'stuck run',
    endsWhen: 'the run goes on',
    ifSo: 'a run were stuck',
    sinceWhen: 'stuck since',
  },
  absent: {
    label: 'Absent',
    severity: 'critical',
    kind: 'level',
    subjects: absentSubjects,
    trouble: 'absence',
    rank: 1,
    joinsStorms: ['neverSucceeded'],
    endsWithSuccess: ['neverSucceeded'],
    name: 'absent',
    words: 'absence',
    endsWhen: 'what is absent is there',
    ifSo: 'it were absent',
    sinceWhen: 'absent since',
  },
};

/** Types by what is wrong, in the order of `alertTypes`. */
export function alertTypesOf(...troubles: readonly Trouble[]): AlertType[] {
  return alertTypes.filter((type) => troubles.includes(alertTypeTable[type].trouble));
}

/** Alerts that say that the work of a CronJob was not done. */
export const undoneWorkTypes: readonly AlertType[] = alertTypesOf('failure', 'absence', 'stuck');

/** What each subject is called, as `name` of its type, and what ends an alert about it. */
export const alertSubjectTable: Readonly<Record<AlertSubject, Pick<AlertTypeRow, 'name' | 'endsWhen'>>> = {
  successRate: { name: 'success rate too low', endsWhen: 'the rate is back at its target' },
  maxDuration: { name: 'took too long', endsWhen: 'a run stays under the limit' },
  minDuration: { name: 'ended too soon', endsWhen: 'a run takes long enough' },
  finishBy: { name: 'not finished in time', endsWhen: 'a run finishes in time' },
  output: { name: 'unexpected output', endsWhen: 'a success meets all assertions' },
  notStarted: { name: 'job not started', endsWhen: 'the run starts or ends' },
  overrunning: { name: 'job overrunning', endsWhen: 'the run ends' },
  terminating: { name: 'job not ending', endsWhen: 'the pods are gone' },
  neverSucceeded: { name: 'never succeeded', endsWhen: 'a run succeeds' },
  disappeared: { name: 'disappeared', endsWhen: 'a CronJob of its name is selected' },
};

/** What stands in the list: a CronJob, or a group of Jobs that no CronJob controls. */
export const cronJobKinds = ['CronJob', 'Jobs'] as const;
export type CronJobKind = (typeof cronJobKinds)[number];

/** What names of groups of Jobs begin with: no CronJob can have such a name. */
export const groupSign = '~';

/** Whether a name is that of a group of Jobs; they stand beside CronJobs wherever one is named. */
export function isGroupName(name: string): boolean {
  return name.startsWith(groupSign);
}

/** Why a CronJob that a monitor expects is not there for it. */
export const absenceCauses = ['deleted', 'deselected', 'neverExisted'] as const;
export type AbsenceCause = (typeof absenceCauses)[number];

/** Values of the metric label `type` for messages that no alert made. */
export const messageLabels = { test: 'Test', digest: 'Digest' } as const;

export const openAlertStates = ['pending', 'active', 'suppressed'] as const;
export const closedAlertStates = ['resolved', 'expired', 'cancelled'] as const;
/** Open states first, then those of history. */
export const alertStates = [...openAlertStates, ...closedAlertStates] as const;
export type AlertState = (typeof alertStates)[number];

/** Whether an alert in this state has not ended. */
export function isOpenAlert(state: AlertState): boolean {
  return openAlertStates.some((open) => open === state);
}

/**
 * What suppresses an alert itself: a person, by a window or a silence, or that its monitor is gone and may be made anew. All other holds keep
 * back messages only.
 */
export const suppressions = ['maintenance', 'silence', 'monitorGone'] as const;
export type Suppression = (typeof suppressions)[number];

/** What keeps back a message. */
export const holds = [
  'storm',
  'inhibited',
  'dependsOn',
  'startupGrace',
  'duplicate',
  'flapping',
  'scope',
  'rateLimit',
  'backoff',
  'circuit',
  'parked',
  'invalid',
  'order',
  'after',
] as const;
export type Hold = (typeof holds)[number];

/** Was it told of an alert? The first that applies, in this order. */
export const toldStates = ['none', 'failed', 'held', 'waiting', 'sent'] as const;

export const toldReasons = [
  'alertingDisabled',
  'noChannel',
  'severityNotRouted',
  'unknownChannel',
  'channelNotAllowed',
  'instead',
  'clearedBeforeSent',
  'acknowledged',
  'channelDeleted',
  'expired',
  'rejected',
  'alertDelay',
  ...suppressions,
  ...holds,
] as const;
export type ToldReason = (typeof toldReasons)[number];

/** Why a message is held, in the four words that people read. */
export const toldWords = {
  silenced: 'Silenced',
  maintenance: 'Maintenance',
  alreadyTold: 'Already told',
  manyAtOnce: 'Many at once',
} as const;
export type ToldWord = keyof typeof toldWords;

/** The word of each reason, and of what became of a message at its channel. The others are of what is on its way, failed, or reaches no channel. */
export const wordOfReason: Readonly<Partial<Record<ToldReason | DeliveryState | 'mutedThere', ToldWord>>> = {
  silence: 'silenced',
  mutedThere: 'silenced',
  maintenance: 'maintenance',
  duplicate: 'alreadyTold',
  flapping: 'alreadyTold',
  inhibited: 'alreadyTold',
  dependsOn: 'alreadyTold',
  collapsed: 'alreadyTold',
  storm: 'manyAtOnce',
  scope: 'manyAtOnce',
  rateLimit: 'manyAtOnce',
  digested: 'manyAtOnce',
};

/** Annotations `cronjob-monitor.io/<word>` by which a CronJob or its Namespace speaks for itself. */
export const ownerWords = [
  'channel',
  'severity',
  'grace',
  'max-duration',
  'finish-by',
  'mute-until',
  'ignore',
  'owner',
] as const;
export type OwnerWord = (typeof ownerWords)[number];

/** Those of which a monitor says whether they count (`allowOverrides`). */
export const overrideWords = ownerWords.filter((word) => word !== 'owner');
export type OverrideWord = (typeof overrideWords)[number];

export const alertTimelineKinds = [
  'detected',
  'pending',
  'activated',
  'suppressed',
  'released',
  'occurrence',
  'severityChanged',
  'held',
  'queued',
  'notRouted',
  'collapsed',
  'rateLimited',
  'digested',
  'attemptFailed',
  'parked',
  'dead',
  'redriven',
  'sent',
  'acknowledged',
  'unacknowledged',
  'mutedThere',
  'unmutedThere',
  'resolved',
  'expired',
  'cancelled',
] as const;
export type AlertTimelineKind = (typeof alertTimelineKinds)[number];

export const severitySources = ['default', 'override'] as const;
export type SeveritySource = (typeof severitySources)[number];

export const deliveryStates = [
  'ready',
  'claimed',
  'sent',
  'parked',
  'dead',
  'cancelled',
  'digested',
  'collapsed',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** `update` completes a message that has left, and notifies no person. `drill` asks a person to prove that the channel is read, or tells that it is not. */
export const deliveryKinds = [
  'firing',
  'reminder',
  'flapping',
  'update',
  'closing',
  'digest',
  'test',
  'drill',
] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

/** `reached`: a receiver accepted it, and its link was not pressed in time. `failed`: no receiver accepted it. */
export const drillOutcomes = ['waiting', 'proved', 'reached', 'failed'] as const;
export type DrillOutcome = (typeof drillOutcomes)[number];

/** Why the next attempt of a delivery lies in the future. */
export const deliveryStateReasons = ['scope', 'rateLimit', 'backoff', 'order', 'after'] as const;
export type DeliveryStateReason = (typeof deliveryStateReasons)[number];

/** Why an attempt to deliver failed. */
export const deliveryErrorCategories = [
  'network',
  'timeout',
  'tls',
  'addressRefused',
  'unauthorized',
  'notFound',
  'rejected',
  'throttled',
  'serverError',
  'smtp',
  'secret',
  'template',
] as const;
export type DeliveryErrorCategory = (typeof deliveryErrorCategories)[number];

export const channelTypes = ['chat', 'paging', 'email', 'webhook'] as const;
export type ChannelType = (typeof channelTypes)[number];
/** Whose form a message to a chat room has: `spec.chat.format` of an AlertChannel. */
export const chatFormats = ['slack', 'teams', 'googlechat', 'discord', 'mattermost', 'telegram', 'ntfy'] as const;
export type ChatFormat = (typeof chatFormats)[number];

/** Whose form the requests of a webhook have: ours, or Alertmanager's. */
export const webhookFormats = ['standard', 'alertmanager'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

export const silenceStates = ['scheduled', 'active', 'expired'] as const;
export type SilenceState = (typeof silenceStates)[number];

/**
 * How a run ended, worst first. `replaced` (deleted by concurrencyPolicy Replace), `deleted` (removed before it ended) and
 * `unobserved` (it ran, its outcome could not be seen) are neutral: they enter no rate.
 */
export const executionStatuses = ['failed', 'unobserved', 'deleted', 'replaced', 'success'] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** What started a run: only `scheduled` ones own an expected run; `unmatched` is treated as manual. */
export const executionTriggers = ['scheduled', 'manual', 'rerun', 'unmatched'] as const;
export type ExecutionTrigger = (typeof executionTriggers)[number];

/** On whose side it is that a run failed, waits or was not started; the first that holds, in this order. */
export const failureCauses = ['platform', 'capacity', 'configuration', 'application'] as const;
export type FailureCause = (typeof failureCauses)[number];

/** What became of an expected run. */
export const slotOutcomes = [
  'matched',
  'late',
  'missed',
  'skippedForbid',
  'skippedDeadline',
  'suspended',
  'unobserved',
  'indeterminate',
] as const;
export type SlotOutcome = (typeof slotOutcomes)[number];

export const slotCauses = [
  'previousRunning',
  'deadlinePassed',
  'createRejected',
  'controllerSilent',
  'specUncertain',
  'monitorDown',
] as const;
export type SlotCause = (typeof slotCauses)[number];

/** Health of a CronJob, worst first. */
export const cronJobStatuses = ['critical', 'warning', 'unknown', 'suspended', 'healthy'] as const;
export type CronJobStatus = (typeof cronJobStatuses)[number];

/** Values of the filter `status` of the CronJob list: `suspended` and `running` are overlays there, as in stats. */
export const cronJobStatusFilters = ['healthy', 'warning', 'critical', 'suspended', 'running', 'unknown'] as const;
export type CronJobStatusFilter = (typeof cronJobStatusFilters)[number];

/** Why the schedule of a CronJob cannot be judged. */
export const scheduleProblems = ['unparsable', 'unknownZone', 'zoneMismatch', 'neverRuns'] as const;
export type ScheduleProblem = (typeof scheduleProblems)[number];

/** How the present job template of a CronJob fares; the words are those that Argo CD has for it. */
export const rolloutStates = ['Degraded', 'Progressing', 'Suspended', 'Healthy', 'Unknown'] as const;
export type RolloutState = (typeof rolloutStates)[number];

export const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'] as const;
export type ConcurrencyPolicy = (typeof concurrencyPolicies)[number];

/** Verdict on a target, worst first. `pending`: its figure breaks it, and that is not judged yet. `off`: there is no target; lists of targets never have it. */
export const slaTargetVerdicts = ['breached', 'pending', 'atRisk', 'noData', 'met'] as const;
export type SlaTargetVerdict = (typeof slaTargetVerdicts)[number];
export const slaVerdicts = [...slaTargetVerdicts, 'off'] as const;
export type SlaVerdict = (typeof slaVerdicts)[number];

/** What the scheduled runs of one day came to; `someFailed`: no target is missed by it. `notRecorded`: before all figures. */
export const dayVerdicts = ['failed', 'belowTarget', 'someFailed', 'succeeded', 'noRun', 'notRecorded'] as const;
export type DayVerdict = (typeof dayVerdicts)[number];

/** Phase of a monitor, worst first. The health of its CronJobs never changes it. */
export const monitorPhases = ['Error', 'Degraded', 'Pending', 'Active'] as const;
export type MonitorPhase = (typeof monitorPhases)[number];

export const healthStatuses = ['healthy', 'degraded', 'unhealthy'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

export const storageStates = ['connected', 'unwritable', 'unreachable', 'migrating'] as const;
export type StorageState = (typeof storageStates)[number];

export const storageTypes = ['sqlite', 'postgres', 'mysql'] as const;
export type StorageType = (typeof storageTypes)[number];

/** The four schedulers, named as health and metrics name them. */
export const schedulerNames = ['dead-man-switch', 'sla-recalculation', 'stuck-job-check', 'prune'] as const;
export type SchedulerName = (typeof schedulerNames)[number];

export const authModes = ['none', 'token', 'proxy'] as const;
export type AuthMode = (typeof authModes)[number];

/** What a caller may do: one word for each row of the permission table. */
export const abilities = [
  'read',
  'readLogs',
  'readMonitors',
  'preview',
  'readChannels',
  'testPattern',
  'trigger',
  'suspend',
  'deleteHistory',
  'acknowledge',
  'silence',
  'testChannel',
  'redrive',
  'readConfig',
  'prune',
] as const;
export type Ability = (typeof abilities)[number];

/** Those that the service of another cluster can be asked for. */
export const elsewhereAbilities = [
  'trigger',
  'suspend',
  'acknowledge',
  'silence',
  'testChannel',
  'redrive',
] as const satisfies readonly Ability[];

/** Those that do something; the others only read. */
export const actingAbilities = [...elsewhereAbilities, 'deleteHistory', 'prune'] as const satisfies readonly Ability[];

/** Kinds of messages of the live stream that come from a stored change and carry a cursor. */
export const changeKinds = ['cronjob', 'execution', 'alert', 'delivery', 'silence', 'monitor', 'channel'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** How a CronJob, an alert, a run or a target fares, worst first: lists are sorted by it. `failing` is bad without an open alert. */
export const healthStates = ['critical', 'warning', 'failing', 'unknown', 'suspended', 'healthy'] as const;
export type HealthState = (typeof healthStates)[number];

/**
 * Who would hear of an alert, worst first. `unwatched`: no monitor selects the CronJob. `off`: no monitor of it looks for the type.
 * `nobody`: no channel takes the alert. `unreachable`: its channels cannot be used now. `unproved`: none of them has accepted anything of
 * late, or, where that is asked, was proved by a drill. `reached`: one has.
 */
export const coverageStates = ['unwatched', 'off', 'nobody', 'unreachable', 'unproved', 'reached'] as const;
export type CoverageState = (typeof coverageStates)[number];

export const riskLevels = ['likely', 'possible'] as const;
export type RiskLevel = (typeof riskLevels)[number];

/** What of two runs is compared, what explains a difference most often first; `spec`: the rest of the Job's spec, by path. */
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

/** In `waitingReason`: the Job has `spec.suspend: true`, so it does not run, and no clock runs for it. */
export const suspendedJob = 'Suspended';
