import type { ActiveJob, CronJobDetail } from '@cronjob-monitor/shared/contract';
import { formatDuration, type Instant } from '@cronjob-monitor/shared/domain';
import {
  findOldestExecution,
  listActiveJobs,
  listAlerts,
  listExecutions,
  type ActiveJob as StoredActiveJob,
} from '@cronjob-monitor/shared/store';
import { presentAlerts } from '../alerts/router.ts';
import type { RouteDeps } from '../deps.ts';
import type { KnownCronJob } from '../known-cron-job.ts';
import { presentExecution } from '../executions/present.ts';
import { orNull, toSeconds, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { explainRuns } from '../verdicts/explain-run.ts';
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
    deps.fleet.metrics(cronJob.id),
    listActiveJobs(store, [cronJob.id]),
    listExecutions(store, { cronJobIds: ids }, { page: { limit: shownExecutions, offset: 0 } }),
    findOldestExecution(store, ids),
    item.activeAlerts === 0 ? [] : listAlerts(store, isActive, { sort: { key: 'severity', descending: false } }),
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
    startingDeadlineSeconds: orNull(cronJob.deadlineS),
    evaluatedThrough: toWireInstantOrNull(cronJob.evaluatedThroughAt),
    deadManDueAt: null, // the switch is not judged yet
    historyFrom: toWireInstantOrNull(historyFrom),
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
