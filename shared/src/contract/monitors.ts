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

export interface PreviewAlert {
  readonly type: AlertType;
  readonly subject: AlertSubject | null;
  readonly severity: Severity;
  readonly cronjob: Ref;
  readonly since: WireInstant;
  readonly endedAt: WireInstant | null;
  readonly message: string;
  readonly channels: readonly string[];
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
  readonly blindSeconds: number;
  readonly truncated: boolean;
}
