import type {
  CronJob,
  CronJobSla,
  LastExecution,
  RecentRun,
  SlaSubject,
  Verdict,
  WorstAlert,
} from '@cronjob-monitor/shared/contract';
import { statusOf, type Instant } from '@cronjob-monitor/shared/domain';
import type { CatalogCronJob, RecentEntry, StoredAlert } from '@cronjob-monitor/shared/store';
import { nextRunOf } from '../../next-run.ts';
import { orNull, toPercent, toSecondsOrNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { presentContext } from '../alerts/present.ts';
import { rateVerdictOf, type CronJobFigures } from './figures.ts';

/** Everything that one item of the list is told from. */
export interface CronJobFacts {
  readonly cronJob: CatalogCronJob;
  readonly figures: CronJobFigures;
  /** In state active or suppressed, worst first. */
  readonly alerts: readonly StoredAlert[];
  readonly verdict: Verdict;
  /** Undefined: not asked for. */
  readonly recent: readonly RecentEntry[] | undefined;
  readonly now: Instant;
  readonly defaultTimeZone: string;
}

export function presentCronJob(facts: CronJobFacts): CronJob {
  const { cronJob, figures, verdict } = facts;
  const { success, failed } = figures.current;
  return {
    namespace: cronJob.namespace,
    name: cronJob.name,
    uid: cronJob.uid,
    status: statusOf(verdict.state),
    verdict,
    suspended: cronJob.suspended,
    runningJobs: cronJob.running,
    schedule: cronJob.schedule,
    timezone: orNull(cronJob.timeZone),
    scheduleProblem: orNull(cronJob.problem),
    concurrencyPolicy: cronJob.policy,
    monitorRef: toRef(figures.monitors[0]),
    monitors: figures.monitors.map(({ namespace, name }) => ({ namespace, name })),
    successRate: toPercent(success, success + failed),
    sla: presentSla(cronJob, figures, facts.alerts),
    lastExecution: presentLastExecution(cronJob),
    lastSuccess: toWireInstantOrNull(cronJob.lastSuccessAt),
    nextRun: toWireInstantOrNull(nextRunOf(cronJob, facts.now, facts.defaultTimeZone)),
    activeAlerts: cronJob.activeAlerts,
    heldAlerts: cronJob.heldAlerts,
    worstAlert: presentWorst(facts.alerts[0]),
    deletedAt: toWireInstantOrNull(cronJob.deletedAt),
    ...(facts.recent ? { recentRuns: facts.recent.map(presentRecent) } : {}),
  };
}

function toRef(ref: { namespace: string; name: string } | undefined): CronJob['monitorRef'] {
  return ref ? { namespace: ref.namespace, name: ref.name } : null;
}

function presentSla(cronJob: CatalogCronJob, figures: CronJobFigures, alerts: readonly StoredAlert[]): CronJobSla {
  const { sla, judged } = figures;
  const { current, previous } = judged;
  const breached = alerts.filter(({ type, state }) => type === 'slaBreached' && state === 'active');
  return {
    enabled: sla.enabled,
    minSuccessRate: orNull(sla.minSuccessRate),
    windowDays: sla.windowDays,
    verdict: rateVerdictOf(figures, cronJob.broken),
    success: current.success,
    runs: current.success + current.failed,
    previousSuccessRate: toPercent(previous.success, previous.success + previous.failed),
    // Subjects of slaBreached are those of a target.
    breached: [...new Set(breached.map(({ subject }) => subject as SlaSubject))],
  };
}

function presentLastExecution({ lastRun }: CatalogCronJob): LastExecution | null {
  if (!lastRun) return null;
  return {
    jobName: lastRun.jobName,
    status: lastRun.status,
    startTime: toWireInstantOrNull(lastRun.startedAt),
    completionTime: toWireInstantOrNull(lastRun.finishedAt),
    durationSeconds: toSecondsOrNull(lastRun.durationMs),
    exitCode: orNull(lastRun.exitCode),
    reason: orNull(lastRun.reason),
  };
}

function presentWorst(alert: StoredAlert | undefined): WorstAlert | null {
  if (!alert) return null;
  const { exitCode, reason, measured, limit, unit } = presentContext(alert);
  return {
    id: alert.id,
    type: alert.type,
    subject: orNull(alert.subject),
    severity: alert.severity,
    since: toWireInstant(alert.sinceAt),
    occurrences: alert.count,
    exitCode,
    reason,
    measured,
    limit,
    unit,
  };
}

function presentRecent(entry: RecentEntry): RecentRun {
  return {
    at: toWireInstant(entry.at),
    outcome: orNull(entry.outcome),
    status: orNull(entry.status),
    durationSeconds: toSecondsOrNull(entry.durationMs),
  };
}
