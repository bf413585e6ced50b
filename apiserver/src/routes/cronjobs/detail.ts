import type { ActiveJob, CronJobDetail } from '@cronjob-monitor/shared/contract';
import { formatDuration, toNamedRef, type Instant } from '@cronjob-monitor/shared/domain';
import {
  findOldestExecution,
  listActiveJobs,
  listAlerts,
  listExecutions,
  listNames,
  type ActiveJob as StoredActiveJob,
} from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import { orNull, toSeconds, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { presentAlerts } from '../alerts/present.ts';
import type { RouteDeps } from '../deps.ts';
import { presentExecution } from '../executions/present.ts';
import type { KnownCronJob } from '../known-cron-job.ts';
import { explainRuns } from '../verdicts/explain-run.ts';
import { presentAll } from './list.ts';
import { gatherMetrics, readDeadMan } from './metrics.ts';

/** Newest runs that the page of a CronJob shows at once. */
const shownExecutions = 20;

/** One CronJob with its figures, its running Jobs and its newest runs, as all who ask at once share it. Throws NOT_FOUND. */
export function readCronJobDetail(deps: RouteDeps, known: KnownCronJob, recent: number): Promise<CronJobDetail> {
  return deps.answers.read(['cronjob', known.ids, recent], async () => {
    const detail = await gatherDetail(deps, known, recent);
    if (!detail) throw notFound('CronJob', `${known.cronJob.namespace}/${known.cronJob.name}`, 'deleted');
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
