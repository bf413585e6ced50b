import { Delivery } from './deliveries.ts';
import { errorStatuses, type ErrorCode } from './errors.ts';
import { CapturedEvent, CapturedLog } from './executions.ts';
import {
  anyText,
  bool,
  count,
  described,
  extended,
  id,
  input,
  instant,
  int,
  listOf,
  named,
  nullable,
  number,
  object,
  type Of,
  optional,
  shortText,
  someOf,
  text,
  typed,
  words,
} from './shape/shape.ts';
import { Told, Verdict } from './verdict.ts';
import {
  absenceCauses,
  alertStates,
  alertSubjects,
  alertTimelineKinds,
  alertTypes,
  failureCauses,
  severities,
  severitySources,
  suppressions,
} from './vocabulary.ts';
import { listFields, missing, pageFields, Ref } from './wire.ts';

export const Acknowledgement = object({ by: text, at: instant, note: nullable(text), expiresAt: nullable(instant) });
export type Acknowledgement = Of<typeof Acknowledgement>;

export const AlertPodStatus = object({
  phase: nullable(text),
  reason: nullable(text),
  node: nullable(text),
  restarts: nullable(int),
  waiting: nullable(text),
});
export type AlertPodStatus = Of<typeof AlertPodStatus>;

const AlertLastWriter = object({
  /** As it named itself to the API server, `helm`. */
  manager: text,
  operation: text,
  at: instant,
  /** What says that the CronJob belongs to it, `release backups`. */
  managedBy: nullable(text),
});

/** A CronJob that is expected and not there. */
export const AlertAbsence = object({
  cause: words(absenceCauses),
  lastSeenAt: nullable(instant),
  /** It was deleted between these two; the same instant when its deletion was seen. */
  deletedFrom: nullable(instant),
  deletedUntil: nullable(instant),
  /** Who wrote it last: the cluster does not record who deleted it. */
  lastWriter: nullable(AlertLastWriter),
});
export type AlertAbsence = Of<typeof AlertAbsence>;

/** As it was found last; each null where it does not apply. */
export const AlertContext = object({
  jobName: nullable(text),
  exitCode: nullable(int),
  reason: nullable(text),
  suggestedFix: nullable(text),
  measured: nullable(number),
  limit: nullable(number),
  unit: nullable(words(['percent', 'seconds', 'runs'])),
  podStatus: nullable(AlertPodStatus),
  hasLogs: nullable(bool),
  hasEvents: nullable(bool),
  /** Of absent/disappeared alone. */
  absence: nullable(AlertAbsence),
});
export type AlertContext = Of<typeof AlertContext>;

export const Alert = object('Alert', {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  /** Kept for life and in history. */
  id,
  type: words(alertTypes),
  subject: nullable(words(alertSubjects)),
  severity: words(severities),
  state: words(alertStates),
  closeCause: nullable(text),
  /** Null unless suppressed. */
  suppressedBy: nullable(words(suppressions)),
  suppressedUntil: nullable(instant),
  /** End of alertDelay; null unless pending. */
  dueAt: nullable(instant),
  /** For receivers: who shows the alert prints `verdict.words`. */
  title: text,
  message: text,
  verdict: Verdict,
  cronjob: Ref,
  monitor: Ref,
  /** The condition began. */
  since: instant,
  /** We noticed. */
  detectedAt: instant,
  endedAt: nullable(instant),
  /** On whose side it is that a run failed, does not start or was missed; null = nothing tells. `verdict.cause` is the sentence. */
  cause: nullable(words(failureCauses)),
  /** What else that concerns, `node node-3`; null = this CronJob alone, or not known. */
  scope: nullable(text),
  occurrences: count,
  delayed: bool,
  lastNotified: nullable(instant),
  channelsNotified: listOf(text),
  told: Told,
  acknowledgement: nullable(Acknowledgement),
  context: AlertContext,
});
export type Alert = Of<typeof Alert>;

/** GET /api/v1/alerts */
export const AlertList = named(
  'AlertList',
  extended(listFields(Alert), {
    missing,
    total: count,
    bySeverity: object({ critical: count, warning: count }),
  }),
);
export type AlertList = Of<typeof AlertList>;

/** GET /api/v1/alerts/history */
export const AlertHistory = object('AlertHistory', { ...pageFields(Alert), missing });
export type AlertHistory = Of<typeof AlertHistory>;

export const AlertTimelineEntry = object({
  at: instant,
  kind: words(alertTimelineKinds),
  reason: nullable(text),
  channel: nullable(text),
  deliveryId: nullable(id),
  by: nullable(text),
  message: text,
});
export type AlertTimelineEntry = Of<typeof AlertTimelineEntry>;

/** An active alert of a CronJob that this one depends on. */
export const AlertWaitsFor = object({
  id,
  cronjob: Ref,
  type: words(alertTypes),
  since: instant,
  /** Names of the channels that took a message about it. */
  channels: listOf(text),
});
export type AlertWaitsFor = Of<typeof AlertWaitsFor>;

/** GET /api/v1/alerts/{id} */
export const AlertDetail = named(
  'AlertDetail',
  extended(Alert, {
    severitySource: words(severitySources),
    /** It comes and goes: an hour without a change has to pass, which is not before this; null = it does not. */
    flappingUntil: nullable(instant),
    /** What holds a message back with the reason `dependsOn`; null = nothing, it is over, or the caller may not read it. */
    waitsFor: nullable(AlertWaitsFor),
    /** False: its CronJob was deleted and nothing is kept of it any more, so /cronjobs/{namespace}/{name} answers 404. */
    cronjobKept: bool,
    withheld: bool,
    logs: nullable(CapturedLog),
    events: nullable(listOf(CapturedEvent)),
    deliveries: listOf(Delivery),
    /** Oldest first. */
    timeline: listOf(AlertTimelineEntry),
  }),
);
export type AlertDetail = Of<typeof AlertDetail>;

/** POST and DELETE /api/v1/alerts/{id}/acknowledge */
export const AcknowledgeResult = object('AcknowledgeResult', { success: bool, message: text, alert: Alert });
export type AcknowledgeResult = Of<typeof AcknowledgeResult>;

/** What can be done with many CronJobs at once; the second of each pair takes back the first. */
const bulkActions = ['acknowledge', 'unacknowledge', 'silence', 'endSilence', 'suspend', 'resume'] as const;
export type BulkAction = (typeof bulkActions)[number];

const bulkMost = 200;

/** One CronJob of POST /api/v1/bulk. */
export const BulkRef = input({
  namespace: shortText(63),
  name: shortText(253),
  /** Of its alerts these alone; absent: all that are open. Of `acknowledge`, `unacknowledge` and `silence`. */
  alertIds: optional(someOf(id, bulkMost)),
  /** What `endSilence` ends. */
  silenceIds: optional(listOf(id, bulkMost)),
});
export type BulkRef = Of<typeof BulkRef>;

/** What an action on many says of each. */
export const BulkBody = input({
  note: optional(described(anyText(500), 'Of acknowledge.')),
  expiresAt: optional(described(anyText(64), 'Of acknowledge, in the future.')),
  endsAt: optional(described(anyText(64), 'Of silence: this, duration or untilSuccess.')),
  duration: optional(described(anyText(32), 'Of silence, such as 4h.')),
  untilSuccess: optional(described(bool, 'Of silence: until what it holds has ended, 30 days at most.')),
  comment: optional(shortText(500)),
  by: optional(described(shortText(100), 'Counts only where callers are not asked who they are.')),
});
export type BulkBody = Of<typeof BulkBody>;

/** POST /api/v1/bulk: 200 rows at most, each checked alone. */
export const BulkInput = input('BulkInput', {
  action: words(bulkActions),
  refs: someOf(BulkRef, bulkMost),
  body: optional(BulkBody),
});
export type BulkInput = Of<typeof BulkInput>;

const bulkOutcomes = ['done', 'unchanged', 'refused'] as const;

/** What became of one row. */
export const BulkRow = extended(Ref, {
  outcome: words(bulkOutcomes),
  /** What was done, or why not. */
  words: text,
  /** Of a refusal. */
  code: nullable(typed<ErrorCode>(words(Object.keys(errorStatuses)))),
  /** Alerts that were acknowledged, or whose acknowledgement was taken back. */
  alertIds: listOf(text),
  /** What `silence` made. */
  silenceIds: listOf(text),
});
export type BulkRow = Of<typeof BulkRow>;

/** Rows in the order of `refs`. */
export const BulkResult = object('BulkResult', { rows: listOf(BulkRow, bulkMost) });
export type BulkResult = Of<typeof BulkResult>;

export const alertSortKeys = ['severity', 'since', 'type', 'namespace', 'cronjob'] as const;

export const alertHistorySortKeys = ['endedAt', 'since', 'severity'] as const;

export const AcknowledgeInput = input('AcknowledgeInput', {
  note: optional(anyText(500)),
  expiresAt: optional(described(text, 'In the future: RFC 3339, or a date.')),
  by: optional(shortText(100)),
});
export type AcknowledgeInput = Of<typeof AcknowledgeInput>;
