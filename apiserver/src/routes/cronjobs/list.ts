import {
  healthStates,
  type CronJob,
  type CronJobList,
  type CronJobStatusFilter,
  type CronJobSummary,
  type HealthState,
  type StateCounts,
  type CronJobSla,
  type LastExecution,
  type Rollout,
  type RecentRun,
  type SlaSubject,
  type Verdict,
  type WorstAlert,
} from '@cronjob-monitor/shared/contract';
import {
  listCronJobsById,
  listRecentRuns,
  type CatalogCronJob,
  type CronJobOutline,
  type RecentEntry,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import { rolloutOf, toAlertFacts, statusOf, type Instant } from '@cronjob-monitor/shared/domain';
import { readLateAfterMs } from '../late-after.ts';
import { pageOnWish, toPagination, type PageRequest } from '../../middleware/pagination.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines, kindOf } from '../find-outlines.ts';
import { judgeCronJobs } from '../verdicts/of-cron-jobs.ts';
import { rateVerdictOf, type CronJobFigures } from './figures.ts';
import { needsFigures, sortOutlines } from './order.ts';
import type { CronJobsQuery } from './query.ts';
import { nextRunOf } from '../../next-run.ts';
import { orNull, toPercent, toSecondsOrNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { presentContext } from '../alerts/present.ts';

interface Found {
  /** Of the page alone. */
  readonly outlines: readonly CronJobOutline[];
  readonly total: number;
  readonly summary: CronJobSummary;
  readonly states: StateCounts;
}

/** CronJobs of one batch of an export. */
const batchSize = 500;

/** All of the list, presented in parts. */
export async function* readInBatches(
  deps: RouteDeps,
  query: CronJobsQuery,
): AsyncGenerator<readonly CronJob[], void, undefined> {
  const { outlines } = await find(deps, query, undefined);
  // At least one batch: what the database refuses is then an answer.
  for (let start = 0; start === 0 || start < outlines.length; start += batchSize) {
    yield await presentOutlines(deps, outlines.slice(start, start + batchSize), 0);
  }
}

/** The list: found, sorted and cut by outlines; only what the page shows is read in full. */
export async function readCronJobList(deps: RouteDeps, query: CronJobsQuery): Promise<CronJobList> {
  const page = pageOnWish(query);
  const found = await find(deps, query, page);
  const items = await presentOutlines(deps, found.outlines, query.recent ?? 0);
  const { summary, states } = found;
  return { items, summary, states, ...(page ? { pagination: toPagination(page, found.total) } : {}) };
}

async function find(deps: RouteDeps, query: CronJobsQuery, page: PageRequest | undefined): Promise<Found> {
  const { sort, namespace, kind, search, monitor, includeRemoved, sla, status, state, similar } = query;
  const { defaultTimeZone } = deps.settings;
  const now = deps.clock.now();
  const filter = { namespaces: namespace, kinds: kind, search, monitor, includeRemoved };
  const withFigures = sla.length > 0 || needsFigures(sort.key);
  const outlines = await findOutlines(deps, filter, similar);
  const rated = withFigures ? outlines.map(({ id }) => id) : [];
  const figures = await deps.fleet.figures(rated, { withPrevious: false });
  const judged = sla.length === 0 ? outlines : outlines.filter((outline) => hasVerdict(outline, figures, sla));
  const kept = judged.filter((outline) => hasStatus(outline, status) && hasState(outline, state));
  const facts = { figuresOf: (id: number) => figures.get(id), now, defaultTimeZone };
  return {
    outlines: sortOutlines(kept, sort, facts, page),
    total: kept.length,
    summary: summarise(judged),
    states: countStates(judged),
  };
}

async function presentOutlines(
  deps: RouteDeps,
  outlines: readonly CronJobOutline[],
  recent: number,
): Promise<CronJob[]> {
  const ids = outlines.map(({ id }) => id);
  return presentAll(deps, await listCronJobsById(deps.store, ids), recent);
}

function hasVerdict(
  { id, broken }: CronJobOutline,
  figures: ReadonlyMap<number, CronJobFigures>,
  verdicts: CronJobsQuery['sla'],
): boolean {
  const ofOne = figures.get(id);
  return ofOne !== undefined && verdicts.includes(rateVerdictOf(ofOne, broken));
}

const statusFilters: Readonly<Record<CronJobStatusFilter, (outline: CronJobOutline) => boolean>> = {
  healthy: ({ status }) => status === 'healthy',
  warning: ({ status }) => status === 'warning',
  critical: ({ status }) => status === 'critical',
  suspended: ({ suspended }) => suspended,
  running: ({ running }) => running > 0,
  unknown: ({ status }) => status === 'unknown',
};

function hasStatus(outline: CronJobOutline, statuses: readonly CronJobStatusFilter[]): boolean {
  return statuses.length === 0 || statuses.some((status) => statusFilters[status](outline));
}

function hasState({ state }: CronJobOutline, states: readonly HealthState[]): boolean {
  return states.length === 0 || states.includes(state);
}

/** Each counts once: they add up to all of them. */
export function countStates(outlines: readonly CronJobOutline[]): StateCounts {
  const counts = Object.fromEntries(healthStates.map((state) => [state, 0])) as Record<HealthState, number>;
  for (const { state } of outlines) counts[state]++;
  return counts;
}

/** How many of them the filter `status` finds for each of its words. */
export function summarise(outlines: readonly CronJobOutline[]): CronJobSummary {
  const counts = { critical: 0, warning: 0, unknown: 0, healthy: 0 };
  let [suspended, running] = [0, 0];
  for (const outline of outlines) {
    if (outline.status !== 'suspended') counts[outline.status]++;
    if (outline.suspended) suspended++;
    if (outline.running > 0) running++;
  }
  const { healthy, warning, critical, unknown } = counts;
  return { healthy, warning, critical, suspended, running, unknown };
}

/** Items of the list, each read with as few questions as one of them alone would need. */
export async function presentAll(
  deps: RouteDeps,
  cronJobs: readonly CatalogCronJob[],
  recent: number,
): Promise<CronJob[]> {
  const { store, clock, settings, fleet } = deps;
  const now = clock.now();
  const ids = cronJobs.map(({ id }) => id);
  const [figures, judged, recentRuns] = await Promise.all([
    fleet.figures(ids, { withPrevious: true }),
    judgeCronJobs(deps, cronJobs),
    readLateAfterMs(store).then((lateAfterMs) => listRecentRuns(store, ids, { count: recent, lateAfterMs })),
  ]);
  return cronJobs.flatMap((cronJob) => {
    const figuresOfOne = figures.get(cronJob.id);
    if (!figuresOfOne) return [];
    return presentCronJob({
      cronJob,
      figures: figuresOfOne,
      alerts: judged.alertsOf(cronJob),
      verdict: judged.verdictOf(cronJob),
      recent: recent > 0 ? (recentRuns.get(cronJob.id) ?? []) : undefined,
      now,
      defaultTimeZone: settings.defaultTimeZone,
    });
  });
}

/** Everything that one item of the list is told from. */
interface CronJobFacts {
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

function presentCronJob(facts: CronJobFacts): CronJob {
  const { cronJob, verdict } = facts;
  const figures = kindOf(cronJob) === 'Jobs' ? withoutTarget(facts.figures) : facts.figures;
  const { success, failed } = figures.current;
  const nextRun = nextRunOf(cronJob, facts.now, facts.defaultTimeZone);
  return {
    namespace: cronJob.namespace,
    name: cronJob.name,
    kind: kindOf(cronJob),
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
    nextRun: toWireInstantOrNull(nextRun),
    rollout: presentRollout(facts, nextRun),
    activeAlerts: cronJob.activeAlerts,
    heldAlerts: cronJob.heldAlerts,
    worstAlert: presentWorst(facts.alerts[0]),
    deletedAt: toWireInstantOrNull(cronJob.deletedAt),
    ...(facts.recent ? { recentRuns: facts.recent.map(presentRecent) } : {}),
  };
}

/** No rate is promised for a group of Jobs. */
function withoutTarget(figures: CronJobFigures): CronJobFigures {
  return { ...figures, sla: { ...figures.sla, minSuccessRate: undefined } };
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

function presentRollout({ cronJob, figures, alerts }: CronJobFacts, nextRunAt: Instant | undefined): Rollout {
  const { template, templateRuns, generation } = cronJob;
  const { state, message } = rolloutOf({
    ...cronJob,
    nextRunAt,
    isMonitored: figures.monitors.length > 0,
    alerts: alerts.map(({ context, ...alert }) => ({
      ...alert,
      runStartedAt: toAlertFacts(context).run?.startedAt,
    })),
  });
  const { first } = templateRuns;
  return {
    state,
    message,
    template: template?.hash.slice(0, 8) ?? null,
    changedAt: toWireInstantOrNull(template?.at),
    generation,
    firstRun: first
      ? {
          jobName: first.jobName,
          status: first.status,
          createdAt: toWireInstant(first.createdAt),
          completionTime: toWireInstantOrNull(first.finishedAt),
        }
      : null,
    nextRun: toWireInstantOrNull(nextRunAt),
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
    jobName: orNull(entry.jobName),
  };
}
