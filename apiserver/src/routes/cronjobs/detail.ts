import type { ActiveJob, CronJobDetail, CronJobMetrics } from '@cronjob-monitor/shared/contract';
import { formatDuration, type Instant } from '@cronjob-monitor/shared/domain';
import {
  countOutcomes,
  findOldestExecution,
  listActiveJobs,
  listAlerts,
  listExecutions,
  measureDurations,
  type ActiveJob as StoredActiveJob,
  type OutcomeCounts,
} from '@cronjob-monitor/shared/store';
import { presentAlerts } from '../alerts/router.ts';
import type { RouteDeps } from '../deps.ts';
import type { KnownCronJob } from '../known-cron-job.ts';
import { presentExecution } from '../executions/present.ts';
import { defaultWindowDays } from '../../monitor-spec.ts';
import { windowsOf } from '../../windows.ts';
import {
  orNull,
  toPercent,
  toSeconds,
  toSecondsOrNull,
  toWireInstant,
  toWireInstantOrNull,
} from '../../wire-values.ts';
import { presentAll } from './list.ts';

/** Newest runs that the page of a CronJob shows at once. */
const shownExecutions = 20;

/** One CronJob with its figures, its running Jobs and its newest runs. */
export async function readCronJobDetail(
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
  const [metrics, activeJobs, executions, historyFrom, alerts] = await Promise.all([
    readMetrics(deps, cronJob.id, item.sla.windowDays),
    listActiveJobs(store, [cronJob.id]),
    listExecutions(store, { cronJobIds: ids }, { page: { limit: shownExecutions, offset: 0 } }),
    findOldestExecution(store, ids),
    item.activeAlerts === 0 ? [] : listAlerts(store, isActive, { sort: { key: 'severity', descending: false } }),
  ]);
  return {
    ...shown,
    activeAlerts: await presentAlerts(store, alerts),
    ...(recentRuns ? { recentRuns } : {}),
    createdAt: toWireInstant(cronJob.createdAt),
    owner: orNull(cronJob.notes.owner),
    description: orNull(cronJob.notes.description),
    runbook: orNull(cronJob.notes.runbook),
    startingDeadlineSeconds: orNull(cronJob.deadlineS),
    evaluatedThrough: toWireInstantOrNull(cronJob.evaluatedThroughAt),
    deadManDueAt: null, // the switch is not judged yet
    historyFrom: toWireInstantOrNull(historyFrom),
    metrics,
    activeJobs: activeJobs.map((job) => presentActiveJob(job, now)),
    executions: executions.map(presentExecution),
  };
}

async function readMetrics({ store, clock }: RouteDeps, id: number, windowDays: number): Promise<CronJobMetrics> {
  const now = clock.now();
  const window = windowsOf(now, windowDays).current;
  const countsOver = async (days: number): Promise<OutcomeCounts | undefined> =>
    (await countOutcomes(store, windowsOf(now, days).current, [id])).get(id);
  // Most monitors have one of the usual windows.
  const asked = new Map([...new Set([windowDays, defaultWindowDays, 30])].map((days) => [days, countsOver(days)]));
  const [counts, week, month, durations] = await Promise.all([
    asked.get(windowDays),
    asked.get(defaultWindowDays),
    asked.get(30),
    measureDurations(store, id, window),
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
  };
}
