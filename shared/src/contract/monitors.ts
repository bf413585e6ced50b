import type { CronJobSummary } from './stats.ts';
import type { AlertSubject, AlertType, ChannelType, CronJobStatus, MonitorPhase, Severity } from './vocabulary.ts';
import type { StateCounts, Verdict } from './verdict.ts';
import type { Condition, List, Percent, Ref, WireInstant } from './wire.ts';

/** What a monitor judges by, in short: durations as text, null = off, `auto` = from the schedule. */
export interface MonitorRules {
  readonly maxTimeSinceLastSuccess: string | null;
  readonly minSuccessRate: Percent | null;
  readonly windowDays: number | null;
  readonly maxDuration: string | null;
}

interface MonitorBase {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly phase: MonitorPhase;
  readonly cronJobCount: number;
  readonly summary: CronJobSummary;
  /** The same, each once. */
  readonly states: StateCounts;
  readonly activeAlerts: number;
  readonly rules: MonitorRules;
}

interface MonitorTail {
  /** At most 3 conditions that are not well, `Type: message`. */
  readonly problems: readonly string[];
  readonly lastReconcile: WireInstant | null;
}

export interface Monitor extends MonitorBase, MonitorTail {
  readonly channels: readonly string[];
}

/** GET /api/v1/monitors */
export type MonitorList = List<Monitor>;

export interface MonitorChannel {
  /** It is told so long after the others, as its monitor writes it; null: at once. */
  readonly after: string | null;
  readonly name: string;
  readonly severities: readonly Severity[];
  readonly exists: boolean;
  /** Null unless it exists. */
  readonly type: ChannelType | null;
  readonly ready: boolean | null;
}

export interface MonitorCronJob {
  readonly namespace: string;
  readonly name: string;
  readonly status: CronJobStatus;
  readonly verdict: Verdict;
  readonly suspended: boolean;
  readonly successRate: Percent | null;
  readonly activeAlerts: number;
  readonly nextRun: WireInstant | null;
}

/** GET /api/v1/monitors/{namespace}/{name} */
export interface MonitorDetail extends MonitorBase, MonitorTail {
  readonly channels: readonly MonitorChannel[];
  readonly createdAt: WireInstant | null;
  readonly generation: number;
  readonly observedGeneration: number | null;
  readonly totalCronJobs: number;
  /** The whole spec as applied: defaults filled in, ceilings applied. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
  /** At most 100, worst first. */
  readonly cronJobs: readonly MonitorCronJob[];
  readonly cronJobsOmitted: number;
}

export const monitorSortKeys = ['name', 'namespace', 'phase', 'cronJobCount', 'activeAlerts', 'lastReconcile'] as const;
export type MonitorSortKey = (typeof monitorSortKeys)[number];

export interface MonitorPreviewInput {
  readonly namespace: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The monitor it would replace. */
  readonly name?: string;
  readonly days?: number;
}

export interface PreviewFinding {
  readonly level: 'error' | 'warning' | 'note';
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/** How often rules were right, by what became of the runs: alerts that were true and false, and runs that went wrong without one. */
export interface PreviewTruth {
  readonly true: number;
  readonly false: number;
  readonly missed: number;
}

/** What the rules would change about an alert: `gone` is one that only the rules in force raise. */
export type PreviewChange = 'kept' | 'new' | 'gone';

export interface PreviewAlert {
  readonly type: AlertType;
  readonly subject: AlertSubject | null;
  readonly severity: Severity;
  readonly cronjob: Ref;
  readonly since: WireInstant;
  readonly endedAt: WireInstant | null;
  readonly message: string;
  readonly channels: readonly string[];
  /** Null: what became of the runs does not decide it, or not yet. */
  readonly truth: boolean | null;
  /** `new` too where no rules are in force. */
  readonly change: PreviewChange;
}

/** A run that went wrong while no alert was open. */
export interface PreviewMissed {
  readonly cronjob: Ref;
  readonly at: WireInstant;
  /** Null: no Job was made. */
  readonly jobName: string | null;
}

/** One CronJob over the range. */
export interface PreviewLane {
  readonly cronjob: Ref;
  /** `21 runs, 2 failed` */
  readonly words: string;
  /** `3 alerts, all true`; empty without one. */
  readonly alertWords: string;
  /** From when on something is kept of the range; null: nothing is. */
  readonly recordedFrom: WireInstant | null;
  /** The range in 120 cells, counted from 0; a cell in which nothing ended is absent. */
  readonly cells: readonly {
    readonly cell: number;
    readonly ok: number;
    readonly failed: number;
    readonly missed: number;
  }[];
}

/** Values that a limit judges, rising; of more than 200 every so many-th. */
export interface PreviewHistogram {
  readonly path: PreviewHistogramPath;
  readonly unit: 'seconds' | 'percent';
  /** How many there are in all. */
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  readonly values: readonly number[];
}

export const previewHistogramPaths = [
  'spec.deadManSwitch.maxTimeSinceLastSuccess',
  'spec.sla.maxDuration',
  'spec.sla.minSuccessRate',
  'spec.missedSchedule.grace',
] as const;
type PreviewHistogramPath = (typeof previewHistogramPaths)[number];

/** The change from the spec in force, to be copied. Diff and command are empty when nothing changes. */
export interface PreviewPatch {
  readonly diff: string;
  readonly yaml: string;
  readonly command: string;
}

/** A limit that the stored runs would keep. */
export interface SuggestedLimit {
  readonly path:
    | 'spec.deadManSwitch.maxTimeSinceLastSuccess'
    | 'spec.deadManSwitch.autoFromSchedule.buffer'
    | 'spec.sla.maxDuration'
    | 'spec.missedSchedule.grace';
  /** As it is in force; null: it is not set. */
  readonly now: string | null;
  readonly value: string;
  readonly why: string;
  /** How many values speak for it. */
  readonly runs: number;
}

/** POST /api/v1/monitors/suggest */
export interface LimitSuggestions {
  readonly items: readonly SuggestedLimit[];
}

/** POST /api/v1/monitors/preview */
export interface MonitorPreview {
  readonly valid: boolean;
  readonly findings: readonly PreviewFinding[];
  readonly cronJobs: {
    readonly matched: number;
    readonly withHistory: number;
    readonly items: readonly Ref[];
    readonly omitted: number;
  };
  readonly from: WireInstant;
  readonly to: WireInstant;
  readonly alerts: {
    readonly total: number;
    readonly byType: Readonly<Partial<Record<AlertType, number>>>;
    readonly items: readonly PreviewAlert[];
    readonly omitted: number;
  };
  /** `These rules raise 3 alerts in 30 days, all true` */
  readonly words: string;
  readonly truth: PreviewTruth;
  /** The same of the spec in force of the monitor that it would replace; null: there is none that the caller may read. */
  readonly now: PreviewTruth | null;
  /** Alerts that only the spec in force raises, newest first, at most 200. */
  readonly gone: readonly PreviewAlert[];
  /** Newest first, at most 200. */
  readonly missed: readonly PreviewMissed[];
  /** At most 50: those with alerts first. */
  readonly lanes: readonly PreviewLane[];
  readonly histograms: readonly PreviewHistogram[];
  /** Null without a spec in force. */
  readonly patch: PreviewPatch | null;
  readonly blindSeconds: number;
  readonly truncated: boolean;
}
