import type { CronJobSummary, StateCounts } from '../../contract/index.ts';
import {
  alertTypes,
  healthStates,
  severities,
  type AlertSubject,
  type AlertType,
  type CronJobStatus,
  type HealthState,
  type MonitorPhase,
  type Severity,
} from '../../contract/vocabulary.ts';
import { formatDuration, type ActiveAlert, type Instant } from '../../domain/index.ts';
import { cutText, toTimeText, type Condition } from './condition.ts';

/** `status` of a CronJobMonitor. Fields at the top are always there, so that a merge patch needs no nulls. resources.md section 5. */
export interface MonitorStatus {
  readonly observedGeneration: number;
  readonly lastReconcileTime: string;
  readonly phase: MonitorPhase;
  readonly totalCronJobs: number;
  readonly summary: CronJobSummary & { readonly totalCronJobs: number; readonly activeAlerts: number };
  /** Each CronJob once. */
  readonly states: StateCounts;
  /** At most 100. */
  readonly cronJobs: readonly MonitoredCronJob[];
  readonly cronJobsOmitted: number;
  readonly conditions: readonly Condition[];
  readonly writtenBy?: StatusWriter;
}

/** The installation that wrote a status: two on one cluster find each other by it. */
export interface StatusWriter {
  /** Its namespace, or the host where it runs outside of a cluster. */
  readonly installation: string;
  /** When its database was made, RFC 3339 with milliseconds: another time is another installation. */
  readonly since: string;
}

interface MonitoredCronJob {
  readonly namespace: string;
  readonly name: string;
  /** The specification's word for `state`. */
  readonly status: CronJobStatus;
  readonly state: HealthState;
  readonly suspended: boolean;
  readonly runningJobs: number;
  readonly lastSuccessfulTime?: string;
  readonly lastFailedTime?: string;
  readonly nextScheduledTime?: string;
  /** Go text. */
  readonly lastRunDuration?: string;
  readonly metrics: MonitoredMetrics;
  /** At most 8. */
  readonly activeAlerts: readonly MonitoredAlert[];
}

interface MonitoredMetrics {
  readonly successRate?: number;
  readonly totalRuns: number;
  readonly successfulRuns: number;
  readonly failedRuns: number;
  readonly avgDurationSeconds?: number;
  readonly p50DurationSeconds?: number;
  readonly p95DurationSeconds?: number;
  readonly p99DurationSeconds?: number;
}

interface MonitoredAlert {
  readonly type: AlertType;
  readonly subject?: AlertSubject;
  readonly severity: Severity;
  readonly since: string;
  /** At most 200 characters. */
  readonly message: string;
  readonly lastNotified?: string;
  readonly exitCode?: number;
  readonly reason?: string;
}

/** One selected CronJob as the evaluation knows it. */
export interface CronJobHealth {
  readonly namespace: string;
  readonly name: string;
  /** The specification's word for `state`. */
  readonly status: CronJobStatus;
  readonly state: HealthState;
  readonly suspended: boolean;
  readonly runningJobs: number;
  readonly lastSuccessAt: Instant | undefined;
  readonly lastFailedAt: Instant | undefined;
  readonly nextRunAt: Instant | undefined;
  readonly lastRunDurationMs: number | undefined;
  readonly successRate: number | undefined;
  readonly totalRuns: number;
  readonly successfulRuns: number;
  readonly failedRuns: number;
  readonly durationMs:
    | { readonly avg: number; readonly p50: number; readonly p95: number; readonly p99: number }
    | undefined;
  readonly activeAlerts: readonly ActiveAlert[];
}

/** All that a monitor selects, counted, and those that a status has room for. */
export interface MonitoredHealth {
  readonly total: number;
  /** Suspended and running are overlays: they count beside the health. */
  readonly summary: CronJobSummary;
  /** Each CronJob once. */
  readonly states: StateCounts;
  /** Of this monitor, on all that it selects. */
  readonly activeAlerts: number;
  /** The worst; more than `maxCronJobsInStatus` are not shown. */
  readonly worst: readonly CronJobHealth[];
}

export const maxCronJobsInStatus = 100;
const maxAlertsInStatus = 8;

/** The status of a monitor, bounded whatever it selects: about 100 KB at most. */
export function toMonitorStatus(facts: {
  readonly phase: MonitorPhase;
  readonly conditions: readonly Condition[];
  readonly generation: number;
  readonly evaluatedAt: Instant;
  readonly health: MonitoredHealth;
  readonly writtenBy?: StatusWriter | undefined;
}): MonitorStatus {
  const { total, summary, states, activeAlerts, worst } = facts.health;
  const shown = [...worst].sort(byUrgency).slice(0, maxCronJobsInStatus);
  return {
    observedGeneration: facts.generation,
    lastReconcileTime: toTimeText(facts.evaluatedAt),
    phase: facts.phase,
    totalCronJobs: total,
    summary: { totalCronJobs: total, ...summary, activeAlerts },
    states,
    cronJobs: shown.map(toMonitoredCronJob),
    cronJobsOmitted: total - shown.length,
    conditions: facts.conditions,
    ...(facts.writtenBy && { writtenBy: facts.writtenBy }),
  };
}

/** The worst first, then by namespace and name. */
function byUrgency(a: CronJobHealth, b: CronJobHealth): number {
  return (
    healthStates.indexOf(a.state) - healthStates.indexOf(b.state) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toMonitoredCronJob(cronJob: CronJobHealth): MonitoredCronJob {
  const { lastSuccessAt, lastFailedAt, nextRunAt, lastRunDurationMs } = cronJob;
  return {
    namespace: cronJob.namespace,
    name: cronJob.name,
    status: cronJob.status,
    state: cronJob.state,
    suspended: cronJob.suspended,
    runningJobs: cronJob.runningJobs,
    ...(lastSuccessAt !== undefined && { lastSuccessfulTime: toTimeText(lastSuccessAt) }),
    ...(lastFailedAt !== undefined && { lastFailedTime: toTimeText(lastFailedAt) }),
    ...(nextRunAt !== undefined && { nextScheduledTime: toTimeText(nextRunAt) }),
    ...(lastRunDurationMs !== undefined && { lastRunDuration: formatDuration(lastRunDurationMs) }),
    metrics: toMetrics(cronJob),
    activeAlerts: [...cronJob.activeAlerts].sort(byWeight).slice(0, maxAlertsInStatus).map(toMonitoredAlert),
  };
}

function toMetrics({
  successRate,
  totalRuns,
  successfulRuns,
  failedRuns,
  durationMs,
}: CronJobHealth): MonitoredMetrics {
  return {
    ...(successRate !== undefined && { successRate }),
    totalRuns,
    successfulRuns,
    failedRuns,
    ...(durationMs !== undefined && {
      avgDurationSeconds: toSeconds(durationMs.avg),
      p50DurationSeconds: toSeconds(durationMs.p50),
      p95DurationSeconds: toSeconds(durationMs.p95),
      p99DurationSeconds: toSeconds(durationMs.p99),
    }),
  };
}

function toSeconds(ms: number): number {
  return Math.round(ms) / 1000;
}

function byWeight(a: ActiveAlert, b: ActiveAlert): number {
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    alertTypes.indexOf(a.type) - alertTypes.indexOf(b.type) ||
    a.sinceAt - b.sinceAt
  );
}

function toMonitoredAlert(alert: ActiveAlert): MonitoredAlert {
  const { subject, lastNotifiedAt, exitCode, reason } = alert;
  return {
    type: alert.type,
    ...(subject !== undefined && { subject }),
    severity: alert.severity,
    since: toTimeText(alert.sinceAt),
    message: cutText(alert.message, 200),
    ...(lastNotifiedAt !== undefined && { lastNotified: toTimeText(lastNotifiedAt) }),
    ...(exitCode !== undefined && { exitCode }),
    ...(reason !== undefined && { reason }),
  };
}
