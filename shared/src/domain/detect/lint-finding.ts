import type { AlertType, Ref, Severity } from '../../contract/index.ts';
import type { Dependencies } from '../alert/dependency.ts';
import type { ChannelRef, Routing } from '../alert/routes.ts';
import type { CronJobFacts } from '../objects/cron-job.ts';
import type { MaintenanceWindow } from '../mute/maintenance.ts';
import type { Rhythm, RhythmProblem } from '../schedule/rhythm.ts';

type LintLevel = 'error' | 'warning' | 'note';

/** A setting that cannot work, or hardly as it was meant. */
export interface LintFinding {
  readonly code: LintCode;
  readonly level: LintLevel;
  /** The field it is about: of the monitor, or of the CronJob when it names one. */
  readonly path: string;
  readonly cronJob: { readonly namespace: string; readonly name: string } | undefined;
  /** A sentence about this one object. */
  readonly message: string;
  /** The value of the field with which the finding would not stand, null to remove it. Absent: none is known that would be right for all. */
  readonly mend?: string | number | null | undefined;
  /** Its owner wants it left: `advice-ignore` names its code. */
  readonly isLeft?: boolean | undefined;
}

/** The annotation `cronjob-monitor.io/advice-ignore`: codes with commas between them. What is no code leaves nothing. */
export function readAdviceIgnore(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '');
}

/** Every code with its level (detection.md section 8). */
export const lintLevels = {
  ScheduleInvalid: 'error',
  ZoneUnknown: 'error',
  ScheduleNeverFires: 'error',
  EveryNeverRuns: 'error',
  DeadManShorterThanPeriod: 'warning',
  EveryBelowMinute: 'warning',
  ZoneInSchedule: 'warning',
  StartingDeadlineTight: 'warning',
  ForbidWithoutDeadline: 'warning',
  RunsLongerThanPeriod: 'warning',
  HistoryTooShort: 'warning',
  OutputLogsGone: 'warning',
  SlaWindowTooSmall: 'warning',
  SlaWindowBeyondRetention: 'warning',
  MaxDurationUnreachable: 'warning',
  WindowStaysOpen: 'warning',
  SeverityNotRouted: 'warning',
  ChannelUnknown: 'warning',
  DependencyUnknown: 'warning',
  DependencyCycle: 'warning',
  AnnotationInvalid: 'warning',
  SelectorEmpty: 'warning',
  MaxDurationFarAbove: 'note',
  SlotInDstChange: 'note',
  ZoneNotDeclared: 'note',
  LastLogLost: 'note',
  RetriesOutlastPeriod: 'note',
  CrowdedMinute: 'note',
} as const satisfies Record<string, LintLevel>;
export type LintCode = keyof typeof lintLevels;

/** What of a monitor's spec is looked at; durations as written. */
export interface LintedMonitor {
  readonly selector: { readonly fallback: boolean } | undefined;
  /** Undefined: it looks for no Jobs without a CronJob. */
  readonly jobs?: object | undefined;
  readonly deadManSwitch:
    | {
        readonly enabled: boolean;
        readonly maxTimeSinceLastSuccess: string | undefined;
        readonly fromCreation?: boolean;
      }
    | undefined;
  /** Undefined: it expects no CronJob by its name. */
  readonly expects?: object | undefined;
  readonly dependsOn?: readonly string[];
  readonly missedSchedule: { readonly enabled: boolean };
  readonly jobFailed: { readonly enabled: boolean };
  readonly output?:
    | { readonly fromLogs?: boolean; readonly assertions: readonly { readonly severity: Severity | undefined }[] }
    | undefined;
  readonly sla:
    | {
        readonly enabled: boolean;
        readonly minSuccessRate: number | undefined;
        readonly windowDays: number;
        readonly minRuns: number;
        readonly maxDuration: string | undefined;
        readonly minDuration?: string | undefined;
        readonly durationRegressionThreshold: number;
      }
    | undefined;
  readonly stuckJobs: { readonly enabled: boolean };
  readonly suspendedHandling: { readonly alertIfSuspendedFor: string | undefined };
  /** Absent: it has none. */
  readonly maintenanceWindows?: readonly (Omit<MaintenanceWindow, 'durationMs' | 'timeZone'> & {
    readonly duration: string;
    readonly timezone: string;
  })[];
  readonly alerting:
    | {
        readonly enabled: boolean;
        readonly channelRefs: readonly ChannelRef[];
        readonly routes?: readonly unknown[];
        readonly severityOverrides: Readonly<Partial<Record<AlertType, Severity>>>;
      }
    | undefined;
  readonly dataRetention: { readonly retentionDays: number };
}

export interface LintedCronJob {
  readonly facts: Pick<
    CronJobFacts,
    | 'namespace'
    | 'name'
    | 'notes'
    | 'schedule'
    | 'timeZone'
    | 'policy'
    | 'deadlineS'
    | 'successLimit'
    | 'failureLimit'
    | 'activeDeadlineS'
    | 'ttlAfterFinishedS'
    | 'backoffLimit'
    | 'restartPolicy'
  >;
  readonly rhythm: Rhythm | RhythmProblem;
  /** Of its last runs; undefined without one. */
  readonly durations: { readonly p50Ms: number; readonly p95Ms: number } | undefined;
  /** Undefined while suspended. */
  readonly nextRunAt: number | undefined;
  /** What its owner says of it. Absent: nothing, and what the monitor says holds. */
  readonly own?: OwnOfLinted | undefined;
}

export interface OwnOfLinted {
  /** The settings of the monitor as they stand for it. */
  readonly monitor: LintedMonitor;
  readonly routing: Routing | undefined;
  readonly severityOverrides: Readonly<Partial<Record<AlertType, Severity>>> | undefined;
  /** Of its annotations and those of its Namespace. */
  readonly problems: readonly string[];
}

/** CronJobs that others wait for. */
interface LintedDependencies {
  /** Namespace of the monitor. */
  readonly namespace: string;
  /** Those of every CronJob, as far as monitors may look. */
  readonly of: Dependencies;
  /** Why nothing can be known of a CronJob that others wait for; undefined: it can. */
  readonly problemOf: (parent: Ref) => string | undefined;
}

export interface LintFacts {
  readonly monitor: LintedMonitor;
  readonly cronJobs: readonly LintedCronJob[];
  /** Channels that it names and that are missing or not ready, and why. */
  readonly channelFaults: readonly { readonly name: string; readonly why: string }[];
  /** How late the cluster starts Jobs: 99th percentile. */
  readonly skewP99Ms: number;
  /** False: no setting says in which zone CronJobs without one are due. */
  readonly isDefaultZoneGiven: boolean;
  /** The annotation `advice-ignore` of the monitor, for what is said of itself. Absent: it has none. */
  readonly adviceIgnore?: string | undefined;
  /** Undefined: it was not asked who waits for whom. */
  readonly dependencies?: LintedDependencies | undefined;
}

/** Makes a finding about the monitor itself. */
export function ofMonitor(code: LintCode, path: string, message: string, mend?: LintFinding['mend']): LintFinding {
  return { code, level: lintLevels[code], path, cronJob: undefined, message, ...(mend !== undefined && { mend }) };
}
