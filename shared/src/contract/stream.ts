import type {
  AlertState,
  AlertSubject,
  AlertType,
  CronJobStatus,
  DeliveryKind,
  DeliveryState,
  ExecutionStatus,
  ExecutionTrigger,
  HealthStatus,
  MonitorPhase,
  Severity,
  SilenceState,
  StorageState,
  HealthState,
} from './vocabulary.ts';
import type { Words } from './verdict.ts';
import type { CronJob, CronJobDetail, CronJobInclude } from './cronjobs.ts';
import type { Execution } from './executions.ts';
import type { Incident } from './incidents.ts';
import type { Stats } from './stats.ts';
import type { WallRow } from './wall.ts';
import type { Ref, WireInstant } from './wire.ts';

/**
 * What a stream carries itself beside its hints: counts, and with them the first incidents; of the CronJobs that `refs` names their rows, their
 * runs, or their rows of the wall.
 */
export const carried = ['overview', 'rows', 'incidents', 'runs', 'wall'] as const;
export type Carried = (typeof carried)[number];

/** Data of the messages of GET /api/v1/events/stream by kind. A message is a hint to read again, not the object, but for what is carried. */
export interface StreamData {
  readonly hello: { readonly cursor: string; readonly serverTime: WireInstant; readonly version: string };
  readonly resync: { readonly reason: 'cursorTooOld' | 'tooManyChanges' };
  readonly cronjob: {
    readonly namespace: string;
    readonly name: string;
    readonly status: CronJobStatus;
    readonly state: HealthState;
    readonly suspended: boolean;
    readonly runningJobs: number;
    readonly activeAlerts: number;
    readonly deleted: boolean;
  };
  /** At the end of a run. */
  readonly execution: {
    readonly namespace: string;
    readonly cronJobName: string;
    readonly jobName: string;
    readonly status: ExecutionStatus;
    readonly trigger: ExecutionTrigger;
    readonly durationSeconds: number | null;
  };
  readonly alert: {
    readonly id: string;
    readonly state: AlertState;
    readonly type: AlertType;
    readonly subject: AlertSubject | null;
    readonly severity: Severity;
    readonly cronjob: Ref;
    readonly monitor: Ref;
  };
  readonly delivery: {
    readonly id: string;
    readonly alertId: string | null;
    readonly channel: string;
    readonly kind: DeliveryKind;
    readonly state: DeliveryState;
  };
  readonly silence: { readonly id: string; readonly state: SilenceState };
  readonly monitor: {
    readonly namespace: string;
    readonly name: string;
    readonly phase: MonitorPhase;
    readonly deleted: boolean;
  };
  readonly channel: { readonly name: string; readonly ready: boolean; readonly deleted: boolean };
  /** Carried: once in 5 s at most, after a change. With incidents it has the rest of what changes with them, and comes after them. */
  readonly overview: {
    readonly revision: string;
    readonly stats: Stats;
    readonly headline?: Words;
    readonly incidentTotal?: number;
  };
  /** Carried: an incident that came into the first 20, changed, or moved, in the order of ranks; `removed` names one that left them. */
  readonly incident:
    | { readonly revision: string; readonly rank: number; readonly row: Incident }
    | { readonly revision: string; readonly removed: Ref };
  /** Carried: a CronJob of `refs` after a change, once in 2 s at most, with its 30 newest expected runs. */
  readonly row: { readonly revision: string; readonly row: CronJob };
  /**
   * Carried: a CronJob of `refs` after a change, once in 2 s at most, as its own answer has it, with its 30 newest expected runs; of its 20 newest
   * runs those that ended since the message before.
   */
  readonly run: {
    readonly revision: string;
    readonly cronjob: Omit<CronJobDetail, CronJobInclude | 'executions'>;
    readonly ended: readonly Execution[];
  };
  /** Carried: the row of a CronJob of `refs` after a change, once in 2 s at most, on a wall that has these ends; its group is the namespace. */
  readonly wall: {
    readonly revision: string;
    readonly from: WireInstant;
    readonly now: WireInstant;
    readonly until: WireInstant;
    readonly row: WallRow;
  };
  readonly health: {
    readonly status: HealthStatus;
    readonly storage: StorageState;
    readonly ready: boolean;
    readonly leader: boolean;
    readonly lastEvaluation: WireInstant | null;
  };
}
