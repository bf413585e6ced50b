import type { AlertType, OverrideWord, Severity } from '../../contract/index.ts';
import type { WrittenRoute, FixPattern, JobFailedRule, OutputAssertion, SlaSpec } from '../../domain/index.ts';
import type { LabelExpression, LabelSelector } from '../selector.ts';

/**
 * The spec of a CronJobMonitor as applied: defaults filled in, those of the configuration too, ceilings applied, and without what
 * could not be used. Names and units are those of the resource, durations are text (`parseDuration`), so that it can be shown and
 * stored as it is. resources.md section 2 says what each field means.
 */
export interface MonitorSpec {
  readonly selector: MonitorSelector | undefined;
  /** Undefined: Jobs are watched as runs of CronJobs alone. */
  readonly jobs: JobsSpec | undefined;
  readonly deadManSwitch: DeadManSwitchSpec | undefined;
  readonly missedSchedule: MissedScheduleSpec;
  readonly jobFailed: JobFailedRule;
  readonly sla: SlaSpec | undefined;
  readonly output: OutputSpec | undefined;
  readonly stuckJobs: StuckJobsSpec;
  readonly suspendedHandling: SuspendedHandlingSpec;
  /** Undefined: none is expected. */
  readonly expects: ExpectsSpec | undefined;
  /** CronJobs that those that it selects wait for: `name` in the namespace of the monitor, or `namespace/name`. */
  readonly dependsOn: readonly string[];
  readonly maintenanceWindows: readonly MaintenanceWindowSpec[];
  /** Annotations of CronJobs and Namespaces that count; the others do nothing. */
  readonly allowOverrides: readonly OverrideWord[];
  readonly alerting: AlertingSpec | undefined;
  readonly dataRetention: DataRetentionSpec;
}

export interface MonitorSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelExpression[];
  /** Empty: any name. */
  readonly matchNames: readonly string[];
  readonly namespaces: readonly string[];
  readonly namespaceSelector: LabelSelector | undefined;
  readonly allNamespaces: boolean;
  /** Selects only what no monitor without it selects. */
  readonly fallback: boolean;
  /** Set when a criterion could not be used: nothing is selected, for leaving it out would select more than was asked for. */
  readonly unusable?: true;
}

/** Which Jobs without a CronJob, in the namespaces of the selector. All criteria given must hold. */
export interface JobsSpec {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelExpression[];
  /** Empty: whatever controls it, and also nothing. */
  readonly ownerKinds: readonly string[];
  /** Keys that it must have, all of them. */
  readonly hasAnnotations: readonly string[];
  /** No CronJobs. */
  readonly only: boolean;
  readonly forgetAfter: string;
  /** Set when a criterion could not be used: no Job is selected, for leaving it out would select more than was asked for. */
  readonly unusable?: true;
}

export interface DeadManSwitchSpec {
  readonly enabled: boolean;
  /** Wins over autoFromSchedule. */
  readonly maxTimeSinceLastSuccess: string | undefined;
  readonly autoFromSchedule: AutoFromScheduleSpec | undefined;
  /** A CronJob that never succeeded is told of too. */
  readonly fromCreation: boolean;
}

export interface AutoFromScheduleSpec {
  readonly enabled: boolean;
  readonly buffer: string;
  readonly missedScheduleThreshold: number;
}

export interface MissedScheduleSpec {
  readonly enabled: boolean;
  readonly grace: string;
  readonly threshold: number;
  /** Undefined: off. */
  readonly skipWarnAfter: number | undefined;
}

export interface OutputSpec {
  readonly fromLogs: boolean;
  /** Severity undefined: that of slaBreached. */
  readonly assertions: readonly (Omit<OutputAssertion, 'severity'> & { readonly severity: Severity | undefined })[];
}

export interface StuckJobsSpec {
  readonly enabled: boolean;
  /** Undefined: this subject is off. */
  readonly notStartedAfter: string | undefined;
  /** Of a wait that does not pass by itself. Undefined, and zero: as `notStartedAfter`. */
  readonly hopelessAfter: string | undefined;
  /** Undefined: from the earlier runs. */
  readonly overrunningAfter: string | undefined;
  /** Undefined: this subject is off. */
  readonly terminatingAfter: string | undefined;
}

export interface SuspendedHandlingSpec {
  readonly pauseMonitoring: boolean;
  /** Undefined: off. */
  readonly alertIfSuspendedFor: string | undefined;
}

/** CronJobs that have to be there, as `name` in the namespace of the monitor or `namespace/name`. */
export interface ExpectsSpec {
  readonly names: readonly string[];
  /** Those too that it selected and that succeeded meanwhile. */
  readonly seen: boolean;
  readonly except: readonly string[];
  readonly grace: string;
}

export interface MaintenanceWindowSpec {
  readonly name: string;
  readonly schedule: string;
  readonly duration: string;
  readonly timezone: string;
  readonly suppressAlerts: boolean;
  readonly excludeFromSla: boolean;
}

export interface AlertingSpec {
  readonly enabled: boolean;
  readonly channelRefs: readonly ChannelRef[];
  readonly routes: readonly ChannelRoute[];
  readonly includeContext: IncludeContextSpec;
  readonly severityOverrides: Readonly<Partial<Record<AlertType, Severity>>>;
  readonly suggestedFixPatterns: readonly FixPattern[];
  readonly suppressDuplicatesFor: string;
  /** Undefined: none. */
  readonly alertDelay: string | undefined;
  /** Zero: none. */
  readonly remindEvery: string;
  readonly renotifyOnChangedError: boolean;
}

export interface ChannelRef {
  readonly name: string;
  /** Never empty. */
  readonly severities: readonly Severity[];
  /** Undefined: told at once. */
  readonly after: string | undefined;
  readonly unlessAcknowledged: boolean;
}

/** Channels that are told besides, or in place of, `channelRefs`. Empty lists: any. */
export type ChannelRoute = WrittenRoute;

export interface IncludeContextSpec {
  readonly logs: boolean;
  readonly logLines: number;
  /** Undefined: the container that failed. */
  readonly logContainerName: string | undefined;
  readonly events: boolean;
  readonly includeInitContainerLogs: boolean;
  readonly podStatus: boolean;
  readonly suggestedFixes: boolean;
}

export const deletionPolicies = ['retain', 'purge', 'purge-after-days'] as const;
type DeletionPolicy = (typeof deletionPolicies)[number];
export const recreationPolicies = ['retain', 'reset'] as const;
type RecreationPolicy = (typeof recreationPolicies)[number];

export interface DataRetentionSpec {
  readonly retentionDays: number;
  readonly logRetentionDays: number;
  readonly maxLogSizeKB: number;
  /** False while the service stores none. */
  readonly storeLogs: boolean;
  readonly storeEvents: boolean;
  readonly onCronJobDeletion: DeletionPolicy;
  /** Set with purge-after-days. */
  readonly purgeAfterDays: number | undefined;
  readonly onRecreation: RecreationPolicy;
}

/** What the configuration says for fields that a monitor leaves out, and where it sets a ceiling. configuration.md section 2. */
export interface MonitorDefaults {
  /** rate-limits.default-suppress-duplicates-for */
  readonly suppressDuplicatesForMs: number;
  /** history-retention.default-days */
  readonly retentionDays: number;
  /** history-retention.max-days: the ceiling of all retention. */
  readonly maxRetentionDays: number;
  /** storage.log-retention-days; 0: as retentionDays. */
  readonly logRetentionDays: number;
  /** storage.max-log-size-kb: default and ceiling. */
  readonly maxLogSizeKB: number;
  /** storage.log-storage-enabled, storage.event-storage-enabled: defaults and gates. */
  readonly storeLogs: boolean;
  readonly storeEvents: boolean;
}
