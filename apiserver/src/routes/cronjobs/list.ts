import type {
  CronJob,
  CronJobList,
  CronJobSla,
  LastExecution,
  RecentRun,
  Ref,
  Rollout,
  SlaSubject,
  Verdict,
  WorstAlert,
} from '@cronjob-monitor/shared/contract';
import {
  type CatalogCronJob,
  countCronJobs,
  type CronJobFigures,
  type CronJobFilter,
  type CronJobOrder,
  gatherFigures,
  listCronJobsById,
  listNamesOf,
  listRankedCronJobs,
  listRecentRuns,
  type RankedCronJob,
  rateVerdictOf,
  type RecentEntry,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import { type Instant, rolloutOf, statusOf, toAlertFacts } from '@cronjob-monitor/shared/domain';
import { readLateAfterMs } from '../known-cron-job.ts';
import { pageOnWish, type PageRequest, toPagination } from '../../middleware/pagination.ts';
import type { RouteDeps } from '../deps.ts';
import { kindOf, usualKinds } from '../find-outlines.ts';
import { isSimilar } from '../similar-names.ts';
import { judgeCronJobs } from '../verdicts/of-cron-jobs.ts';
import { nextRunOf } from '../../next-run.ts';
import { orNull, toPercent, toSecondsOrNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { presentContext } from '../alerts/present.ts';
import type { CronJobsQuery } from './query.ts';

/** CronJobs of one batch of an export. */
const batchSize = 500;

/** All of the list, presented in parts. */
export async function* exportCronJobs(
  deps: RouteDeps,
  query: CronJobsQuery,
): AsyncGenerator<readonly CronJob[], void, undefined> {
  const ids = (await rank(deps, await filterOf(deps, query), query, undefined)).map(({ id }) => id);
  // At least one batch: what the database refuses is then an answer.
  for (let start = 0; start === 0 || start < ids.length; start += batchSize) {
    yield await presentIds(deps, ids.slice(start, start + batchSize), 0);
  }
}

/** The list: found, sorted, counted and cut by the database; only what the page shows is read in full. */
export async function readCronJobList(deps: RouteDeps, query: CronJobsQuery): Promise<CronJobList> {
  const { found, ...counts } = await findCronJobs(deps, query);
  return { items: await presentFound(deps, found, query), ...counts };
}

/** The list before anything is read in full: what is on its page, and the counts. */
export async function findCronJobs(
  deps: RouteDeps,
  query: CronJobsQuery,
): Promise<Omit<CronJobList, 'items'> & { readonly found: readonly RankedCronJob[] }> {
  const page = pageOnWish(query);
  const filter = await filterOf(deps, query);
  const [{ total, summary, states }, found] = await Promise.all([
    countCronJobs(deps.store, filter, standingOf(query)),
    rank(deps, filter, query, page),
  ]);
  return { found, summary, states, ...(page ? { pagination: toPagination(page, total) } : {}) };
}

export async function presentFound(
  deps: RouteDeps,
  found: readonly RankedCronJob[],
  { recent = 0 }: CronJobsQuery,
): Promise<CronJob[]> {
  const ids = found.map(({ id }) => id);
  return presentIds(deps, ids, recent);
}

/** All that the query asks of a CronJob but its standing, by which the summary tells them apart. */
async function filterOf({ store }: RouteDeps, query: CronJobsQuery): Promise<CronJobFilter> {
  const { namespace: namespaces, refs, kind, search, monitor, includeRemoved, sla: verdicts, similar } = query;
  const kinds = kind.length > 0 ? kind : usualKinds;
  const filter = { namespaces, refs: refs.map(nameOf), kinds, monitor, includeRemoved, verdicts };
  if (!similar || search === undefined) return { ...filter, search };
  // Names that are nearly so are sought of those that are there alone.
  const typed = search.toLowerCase();
  const named = await listNamesOf(store, filter);
  const found = named.filter((one) => (one.isSelected ? isSimilar(typed, one) : one.name.includes(typed)));
  return { ...filter, ids: found.map(({ id }) => id) };
}

function standingOf({ status, state }: CronJobsQuery): Pick<CronJobOrder, 'statuses' | 'states'> {
  return { statuses: status, states: state };
}

async function rank(
  { store, clock, settings }: RouteDeps,
  filter: CronJobFilter,
  query: CronJobsQuery,
  page: PageRequest | undefined,
): Promise<RankedCronJob[]> {
  const now = clock.now();
  return listRankedCronJobs(store, filter, {
    ...standingOf(query),
    sort: query.sort,
    page,
    nextRunOf: (cronJob) => nextRunOf(cronJob, now, settings.defaultTimeZone),
  });
}

async function presentIds(deps: RouteDeps, ids: readonly number[], recent: number): Promise<CronJob[]> {
  return presentAll(deps, await listCronJobsById(deps.store, ids), recent);
}

/** Items of the list, each read with as few questions as one of them alone would need. */
export async function presentAll(
  deps: RouteDeps,
  cronJobs: readonly CatalogCronJob[],
  recent: number,
): Promise<CronJob[]> {
  const { store, clock, settings } = deps;
  const now = clock.now();
  const ids = cronJobs.map(({ id }) => id);
  const [figures, judged, recentRuns] = await Promise.all([
    gatherFigures(store, ids, now, { withPrevious: true }),
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

/** Of `namespace/name`; what has another form names no CronJob. */
function nameOf(text: string): Ref {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, Math.max(0, slash)), name: text.slice(slash + 1) };
}
