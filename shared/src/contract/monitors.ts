import {
  anyObject,
  bool,
  count,
  described,
  extended,
  input,
  instant,
  int,
  listOf,
  mapOf,
  named,
  nullable,
  number,
  object,
  type Of,
  optional,
  percent,
  shortText,
  text,
  typed,
  wholeNumber,
  words,
} from './shape/shape.ts';
import { CronJobSummary } from './stats.ts';
import { StateCounts, Verdict } from './verdict.ts';
import {
  alertSubjects,
  alertTypes,
  type AlertType,
  channelTypes,
  cronJobStatuses,
  monitorPhases,
  severities,
} from './vocabulary.ts';
import { Condition, listFields, missing, Ref } from './wire.ts';

/** What a monitor judges by, in short: durations as text, null = off, `auto` = from the schedule. */
const MonitorRules = object({
  maxTimeSinceLastSuccess: nullable(text),
  minSuccessRate: nullable(percent),
  windowDays: nullable(int),
  maxDuration: nullable(text),
});
export type MonitorRules = Of<typeof MonitorRules>;

/** What list item and detail have alike. */
const monitorFields = {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  namespace: text,
  name: text,
  uid: text,
  phase: words(monitorPhases),
  cronJobCount: count,
  summary: CronJobSummary,
  /** The same, each once. */
  states: StateCounts,
  activeAlerts: count,
  /** What GET /api/v1/advice has of it and of its CronJobs, without notes and what is left. */
  findings: count,
  rules: MonitorRules,
  /** At most 3 conditions that are not well, `Type: message`. */
  problems: listOf(text, 3),
  lastReconcile: nullable(instant),
};

export const Monitor = named('Monitor', extended(monitorFields, { channels: listOf(text) }));
export type Monitor = Of<typeof Monitor>;

/** GET /api/v1/monitors */
export const MonitorList = object('MonitorList', { ...listFields(Monitor), missing });
export type MonitorList = Of<typeof MonitorList>;

export const MonitorChannel = object({
  /** It is told so long after the others, as its monitor writes it; null: at once. */
  after: nullable(text),
  name: text,
  severities: listOf(words(severities)),
  exists: bool,
  /** Null unless it exists. */
  type: nullable(words(channelTypes)),
  ready: nullable(bool),
});
export type MonitorChannel = Of<typeof MonitorChannel>;

export const MonitorCronJob = object({
  namespace: text,
  name: text,
  status: words(cronJobStatuses),
  verdict: Verdict,
  suspended: bool,
  successRate: nullable(percent),
  activeAlerts: count,
  nextRun: nullable(instant),
});
export type MonitorCronJob = Of<typeof MonitorCronJob>;

/** GET /api/v1/monitors/{namespace}/{name} */
export const MonitorDetail = named(
  'MonitorDetail',
  extended(monitorFields, {
    channels: listOf(MonitorChannel),
    createdAt: nullable(instant),
    generation: int,
    observedGeneration: nullable(int),
    totalCronJobs: count,
    /** The whole spec as applied: defaults filled in, ceilings applied. */
    spec: anyObject,
    conditions: listOf(Condition),
    /** At most 100, worst first. */
    cronJobs: listOf(MonitorCronJob, 100),
    cronJobsOmitted: count,
  }),
);
export type MonitorDetail = Of<typeof MonitorDetail>;

export const monitorSortKeys = ['name', 'namespace', 'phase', 'cronJobCount', 'activeAlerts', 'lastReconcile'] as const;

export const MonitorPreviewInput = input('MonitorPreviewInput', {
  namespace: shortText(63),
  spec: described(anyObject, 'The spec of a CronJobMonitor.'),
  /** The monitor it would replace. */
  name: optional(described(shortText(253), 'The monitor that it would replace.')),
  days: optional(wholeNumber(1, 30)),
});
export type MonitorPreviewInput = Of<typeof MonitorPreviewInput>;

export const PreviewFinding = object({
  level: words(['error', 'warning', 'note']),
  code: text,
  path: text,
  message: text,
});
export type PreviewFinding = Of<typeof PreviewFinding>;

/** How often rules were right, by what became of the runs: alerts that were true and false, and runs that went wrong without one. */
export const PreviewTruth = object('PreviewTruth', { true: count, false: count, missed: count });
export type PreviewTruth = Of<typeof PreviewTruth>;

/** What the rules would change about an alert: `gone` is one that only the rules in force raise. */
const previewChanges = ['kept', 'new', 'gone'] as const;
export type PreviewChange = (typeof previewChanges)[number];

export const PreviewAlert = object('PreviewAlert', {
  type: words(alertTypes),
  subject: nullable(words(alertSubjects)),
  severity: words(severities),
  cronjob: Ref,
  since: instant,
  endedAt: nullable(instant),
  message: text,
  channels: listOf(text),
  /** Null: what became of the runs does not decide it, or not yet. */
  truth: nullable(bool),
  /** `new` too where no rules are in force. */
  change: words(previewChanges),
});
export type PreviewAlert = Of<typeof PreviewAlert>;

/** A run that went wrong while no alert was open. */
export const PreviewMissed = object({
  cronjob: Ref,
  at: instant,
  /** Null: no Job was made. */
  jobName: nullable(text),
});
export type PreviewMissed = Of<typeof PreviewMissed>;

/** One CronJob over the range. */
export const PreviewLane = object({
  cronjob: Ref,
  /** `21 runs, 2 failed` */
  words: text,
  /** `3 alerts, all true`; empty without one. */
  alertWords: text,
  /** From when on something is kept of the range; null: nothing is. */
  recordedFrom: nullable(instant),
  /** The range in 120 cells, counted from 0; a cell in which nothing ended is absent. */
  cells: listOf(object({ cell: count, ok: count, failed: count, missed: count }), 120),
});
export type PreviewLane = Of<typeof PreviewLane>;

const previewHistogramPaths = [
  'spec.deadManSwitch.maxTimeSinceLastSuccess',
  'spec.sla.maxDuration',
  'spec.sla.minSuccessRate',
  'spec.missedSchedule.grace',
] as const;

/** Values that a limit judges, rising; of more than 200 every so many-th. */
export const PreviewHistogram = object({
  path: words(previewHistogramPaths),
  unit: words(['seconds', 'percent']),
  /** How many there are in all. */
  count,
  p50: number,
  p95: number,
  max: number,
  values: listOf(number, 200),
});
export type PreviewHistogram = Of<typeof PreviewHistogram>;

/** The change from the spec in force, to be copied. Diff and command are empty when nothing changes. */
export const PreviewPatch = object({ diff: text, yaml: text, command: text });
export type PreviewPatch = Of<typeof PreviewPatch>;

/** A limit that the stored runs would keep. */
export const SuggestedLimit = object({
  path: words([
    'spec.deadManSwitch.maxTimeSinceLastSuccess',
    'spec.deadManSwitch.autoFromSchedule.buffer',
    'spec.sla.maxDuration',
    'spec.missedSchedule.grace',
  ]),
  /** As it is in force; null: it is not set. */
  now: nullable(text),
  value: text,
  why: text,
  /** How many values speak for it. */
  runs: count,
});
export type SuggestedLimit = Of<typeof SuggestedLimit>;

/** POST /api/v1/monitors/suggest */
export const LimitSuggestions = object('LimitSuggestions', { items: listOf(SuggestedLimit) });
export type LimitSuggestions = Of<typeof LimitSuggestions>;

/** POST /api/v1/monitors/preview */
export const MonitorPreview = object('MonitorPreview', {
  valid: bool,
  findings: listOf(PreviewFinding),
  cronJobs: object({ matched: count, withHistory: count, items: listOf(Ref, 100), omitted: count }),
  from: instant,
  to: instant,
  alerts: object({
    total: count,
    byType: typed<Readonly<Partial<Record<AlertType, number>>>>(mapOf(count)),
    items: listOf(PreviewAlert, 200),
    omitted: count,
  }),
  /** `These rules raise 3 alerts in 30 days, all true` */
  words: text,
  truth: PreviewTruth,
  /** The same of the spec in force of the monitor that it would replace; null: there is none that the caller may read. */
  now: nullable(PreviewTruth),
  /** Alerts that only the spec in force raises, newest first, at most 200. */
  gone: listOf(PreviewAlert, 200),
  /** Newest first, at most 200. */
  missed: listOf(PreviewMissed, 200),
  /** At most 50: those with alerts first. */
  lanes: listOf(PreviewLane, 50),
  histograms: listOf(PreviewHistogram),
  /** Null without a spec in force. */
  patch: nullable(PreviewPatch),
  blindSeconds: count,
  truncated: bool,
});
export type MonitorPreview = Of<typeof MonitorPreview>;

/** Body of POST /api/v1/monitors/suggest */
export const MonitorRefInput = input('MonitorRefInput', { namespace: shortText(63), name: shortText(253) });
