import type { ActiveJob, CronJobDetail, CronJobMetrics } from '@cronjob-monitor/shared/contract';
import {
  formatDuration,
  toNamedRef,
  type Instant,
  deadManDue,
  defaultWindowDays,
  isGroupName,
  nthExpectedAfter,
  rateWindows,
} from '@cronjob-monitor/shared/domain';
import {
  findOldestExecution,
  listActiveJobs,
  listAlerts,
  listExecutions,
  listNames,
  type ActiveJob as StoredActiveJob,
  countOutcomes,
  gatherFigures,
  listJudgedCronJobs,
  listMonitors,
  listSpecEpochs,
  measureDurations,
  measureLastDurations,
  type CatalogCronJob,
  type Db,
  type OutcomeCounts,
} from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import {
  orNull,
  toSeconds,
  toWireInstant,
  toWireInstantOrNull,
  toPercent,
  toSecondsOrNull,
} from '../../wire-values.ts';
import { presentAlerts } from '../alerts/present.ts';
import type { RouteDeps } from '../deps.ts';
import { presentExecution } from '../executions/present.ts';
import type { KnownCronJob } from '../known-cron-job.ts';
import { explainRuns } from '../verdicts/explain-run.ts';
import { presentAll } from './list.ts';
import { deadManRuleOf } from '../../monitor-spec.ts';
import { refText } from '@cronjob-monitor/shared/contract';

/** Newest runs that the page of a CronJob shows at once. */
const shownExecutions = 20;

/** One CronJob with its figures, its running Jobs and its newest runs, as all who ask at once share it. Throws NOT_FOUND. */
export function readCronJobDetail(deps: RouteDeps, known: KnownCronJob, recent: number): Promise<CronJobDetail> {
  return deps.answers.read(['cronjob', known.ids, recent], async () => {
    const detail = await gatherDetail(deps, known, recent);
    if (!detail) throw notFound('CronJob', refText(known.cronJob), 'deleted');
    return detail;
  });
}

async function gatherDetail(
  deps: RouteDeps,
  { cronJob, ids }: KnownCronJob,
  recent: number,
): Promise<CronJobDetail | undefined> {
  const { store, clock } = deps;
  const [item] = await presentAll(deps, [cronJob], recent);
  if (!item) return undefined;
  const now = clock.now();
  const { recentRuns, ...shown } = item;
  const isActive = { states: ['active'], namespaces: [cronJob.namespace], cronJobs: [cronJob.name] } as const;
  const [metrics, activeJobs, executions, historyFrom, deadMan, alerts, factNames, own] = await Promise.all([
    gatherMetrics(store, [cronJob.id], now).then((metricsOf) => metricsOf.get(cronJob.id)),
    listActiveJobs(store, [cronJob.id]),
    listExecutions(store, { cronJobIds: ids }, { page: { limit: shownExecutions, offset: 0 } }),
    findOldestExecution(store, ids),
    readDeadMan(deps, cronJob, now),
    item.activeAlerts === 0 ? [] : listAlerts(store, isActive, { sort: { key: 'severity', descending: false } }),
    listNames(store, ids),
    deps.actions.readOwnSettings(cronJob.id),
  ]);
  if (!metrics) return undefined;
  const explained = await explainRuns(store, cronJob.id, executions);
  return {
    ...shown,
    activeAlerts: await presentAlerts(deps, alerts),
    ...(recentRuns ? { recentRuns } : {}),
    createdAt: toWireInstant(cronJob.createdAt),
    owner: orNull(cronJob.notes.owner),
    description: orNull(cronJob.notes.description),
    runbook: orNull(cronJob.notes.runbook),
    dependsOn: cronJob.dependsOn.map((text) => toNamedRef(text, cronJob.namespace)),
    startingDeadlineSeconds: orNull(cronJob.deadlineS),
    evaluatedThrough: toWireInstantOrNull(cronJob.evaluatedThroughAt),
    ...deadMan,
    historyFrom: toWireInstantOrNull(historyFrom),
    facts: [...new Set([...factNames.values()].flatMap((names) => [...names.keys()]))].sort(),
    factProblems: cronJob.factProblems,
    ...own,
    metrics,
    activeJobs: activeJobs.map((job) => presentActiveJob(job, now)),
    executions: executions.map((run) =>
      presentExecution(run, { revision: shown.verdict.revision }, explained.get(run.jobUid)),
    ),
  };
}

function presentActiveJob(job: StoredActiveJob, now: Instant): ActiveJob {
  const runningMs = job.startedAt === undefined ? undefined : Math.max(0, now - job.startedAt);
  const wholeSeconds = runningMs === undefined ? undefined : Math.floor(runningMs / 1000) * 1000;
  return {
    jobName: job.jobName,
    trigger: job.trigger,
    startTime: toWireInstantOrNull(job.startedAt),
    runningDuration: wholeSeconds === undefined ? null : formatDuration(wholeSeconds),
    runningSeconds: wholeSeconds === undefined ? null : toSeconds(wholeSeconds),
    podName: orNull(job.podName),
    podPhase: orNull(job.podPhase),
    ready: orNull(job.ready),
    finishing: job.finishing,
    waitingReason: orNull(job.waitingReason),
    waitingMessage: orNull(job.waitingMessage),
  };
}

/** What the pages of these CronJobs tell of their runs, by id: over the window of the leading monitor, and the usual ones. */
async function gatherMetrics(
  db: Db,
  ids: readonly number[],
  now: Instant,
): Promise<ReadonlyMap<number, CronJobMetrics>> {
  const figures = await gatherFigures(db, ids, now, { withPrevious: false });
  const metrics = new Map<number, CronJobMetrics>();
  for (const [id, { sla }] of figures) metrics.set(id, await readMetrics(db, id, sla.windowDays, now));
  return metrics;
}

async function readMetrics(db: Db, id: number, windowDays: number, now: Instant): Promise<CronJobMetrics> {
  const window = rateWindows(now, windowDays).current;
  const countsOver = async (days: number): Promise<OutcomeCounts | undefined> =>
    (await countOutcomes(db, rateWindows(now, days).current, [id])).get(id);
  // Most monitors have one of the usual windows.
  const asked = new Map([...new Set([windowDays, defaultWindowDays, 30])].map((days) => [days, countsOver(days)]));
  const [counts, week, month, durations] = await Promise.all([
    asked.get(windowDays),
    asked.get(defaultWindowDays),
    asked.get(30),
    measureDurations(db, id, window),
  ]);
  const { success = 0, failed = 0 } = counts ?? {};
  return {
    windowDays,
    successRate: toPercent(success, success + failed),
    totalRuns: success + failed,
    successfulRuns: success,
    failedRuns: failed,
    successRate7d: rateOf(week),
    successRate30d: rateOf(month),
    avgDurationSeconds: toSecondsOrNull(durations?.avgMs),
    p50DurationSeconds: toSecondsOrNull(durations?.p50Ms),
    p95DurationSeconds: toSecondsOrNull(durations?.p95Ms),
    p99DurationSeconds: toSecondsOrNull(durations?.p99Ms),
    approximate: [counts, week, month].some((part) => part?.approximate),
  };
}

function rateOf(counts: OutcomeCounts | undefined): number | null {
  return counts ? toPercent(counts.success, counts.success + counts.failed) : null;
}

/** As the switch measures them. */
const durations = { newest: 20, fewest: 5 };

/** When the first dead-man's switch of those that watch a CronJob fires, and what it counts from: the question that its judge asks. */
async function readDeadMan(
  { store, settings }: Pick<RouteDeps, 'store' | 'settings'>,
  cronJob: CatalogCronJob,
  now: Instant,
): Promise<Pick<CronJobDetail, 'deadManDueAt' | 'deadManBasis'>> {
  const none = { deadManDueAt: null, deadManBasis: null };
  if (cronJob.deletedAt !== undefined || isGroupName(cronJob.name)) return none;
  const [[judged], monitors, epochs, measured] = await Promise.all([
    listJudgedCronJobs(store, [cronJob.id]),
    listMonitors(store),
    listSpecEpochs(store, [cronJob.id]),
    measureLastDurations(store, [cronJob.id], durations.newest),
  ]);
  const { schedule, timeZone } = cronJob;
  const asked = epochs.get(cronJob.id) ?? [{ schedule, timeZone, fromAt: -Infinity, toAt: undefined }];
  const last = measured.get(cronJob.id);
  const resumed = epochs.get(cronJob.id)?.findLast(({ suspended, toAt }) => suspended && toAt !== undefined);
  const dues = (judged?.monitors ?? []).flatMap(({ id, selects, judgesFromAt: originAt }) => {
    const rule = selects ? deadManRuleOf(monitors.find((monitor) => monitor.id === id)?.spec) : undefined;
    if (!rule) return [];
    const facts = {
      suspended: cronJob.suspended,
      lastSuccessAt: cronJob.lastSuccessAt,
      originAt,
      resumedAt: resumed?.toAt,
      p95DurationMs: last && last.runs >= durations.fewest ? last.p95Ms : undefined,
      nthSlotAfter: (after: Instant, n: number) => nthExpectedAfter(asked, settings.defaultTimeZone, after, n),
    };
    return deadManDue(rule, facts, now) ?? [];
  });
  const [first] = dues.sort((a, b) => a.at - b.at);
  return first ? { deadManDueAt: toWireInstantOrNull(first.at), deadManBasis: first.basis } : none;
}
