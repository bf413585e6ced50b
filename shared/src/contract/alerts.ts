import type { Delivery } from './deliveries.ts';
import type { CapturedEvent, CapturedLog } from './executions.ts';
import type {
  AlertState,
  AbsenceCause,
  AlertSubject,
  AlertTimelineKind,
  AlertType,
  DeliveryErrorCategory,
  DeliveryKind,
  DeliveryState,
  FailureCause,
  Severity,
  SeveritySource,
  Suppression,
  ToldReason,
  ToldState,
  ToldWord,
} from './vocabulary.ts';
import type { Verdict } from './verdict.ts';
import type { List, Page, Ref, WireInstant } from './wire.ts';

/** The newest delivery of an alert to one channel. */
export interface ToldChannel {
  readonly channel: string;
  readonly deliveryId: string;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly at: WireInstant;
  readonly nextAttemptAt: WireInstant | null;
  readonly category: DeliveryErrorCategory | null;
  readonly httpStatus: number | null;
  /** That the receiver itself keeps it from people, and why: `silenced in Alertmanager by ana until 2026-11-24 06:00 UTC: storage move`. */
  readonly mutedThere: string | null;
  /** Of what another message tells there, or the receiver mutes; null = neither. */
  readonly word: ToldWord | null;
}

/** Was it told, and if not, why. */
export interface Told {
  readonly state: ToldState;
  readonly reason: ToldReason | null;
  /** Why it is held, in one of four words: of the reason, or the one that all channels share; null = it is not. */
  readonly word: ToldWord | null;
  /** When that is looked at again; null = not known. */
  readonly until: WireInstant | null;
  readonly channels: readonly ToldChannel[];
}

export interface Acknowledgement {
  readonly by: string;
  readonly at: WireInstant;
  readonly note: string | null;
  readonly expiresAt: WireInstant | null;
}

export interface AlertPodStatus {
  readonly phase: string | null;
  readonly reason: string | null;
  readonly node: string | null;
  readonly restarts: number | null;
  readonly waiting: string | null;
}

/** Frozen at detection; each null where it does not apply. */
export interface AlertContext {
  readonly jobName: string | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly suggestedFix: string | null;
  readonly measured: number | null;
  readonly limit: number | null;
  readonly unit: 'percent' | 'seconds' | 'runs' | null;
  readonly podStatus: AlertPodStatus | null;
  readonly hasLogs: boolean | null;
  readonly hasEvents: boolean | null;
  /** Of absent/disappeared alone. */
  readonly absence: AlertAbsence | null;
}

/** A CronJob that is expected and not there. */
export interface AlertAbsence {
  readonly cause: AbsenceCause;
  readonly lastSeenAt: WireInstant | null;
  /** It was deleted between these two; the same instant when its deletion was seen. */
  readonly deletedFrom: WireInstant | null;
  readonly deletedUntil: WireInstant | null;
  /** Who wrote it last: the cluster does not record who deleted it. */
  readonly lastWriter: AlertLastWriter | null;
}

export interface AlertLastWriter {
  /** As it named itself to the API server, `helm`. */
  readonly manager: string;
  readonly operation: string;
  readonly at: WireInstant;
  /** What says that the CronJob belongs to it, `release backups`. */
  readonly managedBy: string | null;
}

export interface Alert {
  /** Kept for life and in history. */
  readonly id: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | null;
  readonly severity: Severity;
  readonly state: AlertState;
  readonly closeCause: string | null;
  /** Null unless suppressed. */
  readonly suppressedBy: Suppression | null;
  readonly suppressedUntil: WireInstant | null;
  /** End of alertDelay; null unless pending. */
  readonly dueAt: WireInstant | null;
  /** For receivers: who shows the alert prints `verdict.words`. */
  readonly title: string;
  readonly message: string;
  readonly verdict: Verdict;
  readonly cronjob: Ref;
  readonly monitor: Ref;
  /** The condition began. */
  readonly since: WireInstant;
  /** We noticed. */
  readonly detectedAt: WireInstant;
  readonly endedAt: WireInstant | null;
  /** On whose side it is that a run failed, does not start or was missed; null = nothing tells. `verdict.cause` is the sentence. */
  readonly cause: FailureCause | null;
  /** What else that concerns, `node node-3`; null = this CronJob alone, or not known. */
  readonly scope: string | null;
  readonly occurrences: number;
  readonly delayed: boolean;
  readonly lastNotified: WireInstant | null;
  readonly channelsNotified: readonly string[];
  readonly told: Told;
  readonly acknowledgement: Acknowledgement | null;
  readonly context: AlertContext;
}

/** GET /api/v1/alerts */
export interface AlertList extends List<Alert> {
  readonly total: number;
  readonly bySeverity: Readonly<Record<Severity, number>>;
}

/** GET /api/v1/alerts/history */
export type AlertHistory = Page<Alert>;

export interface AlertTimelineEntry {
  readonly at: WireInstant;
  readonly kind: AlertTimelineKind;
  readonly reason: string | null;
  readonly channel: string | null;
  readonly deliveryId: string | null;
  readonly by: string | null;
  readonly message: string;
}

/** An active alert of a CronJob that this one depends on. */
export interface AlertWaitsFor {
  readonly id: string;
  readonly cronjob: Ref;
  readonly type: AlertType;
  readonly since: WireInstant;
  /** Names of the channels that took a message about it. */
  readonly channels: readonly string[];
}

/** GET /api/v1/alerts/{id} */
export interface AlertDetail extends Alert {
  /** What holds a message back with the reason `dependsOn`; null = nothing, it is over, or the caller may not read it. */
  readonly waitsFor: AlertWaitsFor | null;
  readonly severitySource: SeveritySource;
  readonly withheld: boolean;
  readonly logs: CapturedLog | null;
  readonly events: readonly CapturedEvent[] | null;
  readonly deliveries: readonly Delivery[];
  /** Oldest first. */
  readonly timeline: readonly AlertTimelineEntry[];
}

/** POST and DELETE /api/v1/alerts/{id}/acknowledge */
export interface AcknowledgeResult {
  readonly success: boolean;
  readonly message: string;
  readonly alert: Alert;
}

export const alertSortKeys = ['severity', 'since', 'type', 'namespace', 'cronjob'] as const;
export type AlertSortKey = (typeof alertSortKeys)[number];
export const alertHistorySortKeys = ['endedAt', 'since', 'severity'] as const;
export type AlertHistorySortKey = (typeof alertHistorySortKeys)[number];
