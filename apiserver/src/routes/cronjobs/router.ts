import { CronJobDetail, CronJobList, DeleteHistoryResult, type ActiveJob } from '@cronjob-monitor/shared/contract';
import { formatDuration, toNamedRef, type Instant } from '@cronjob-monitor/shared/domain';
import {
  findOldestExecution,
  listActiveJobs,
  listAlerts,
  listExecutions,
  listNames,
  type ActiveJob as StoredActiveJob,
} from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { answerExport, exportable, isExport } from '../export/answer.ts';
import { cronJobColumns } from '../export/columns.ts';
import { gatherMetrics, readDeadMan } from './metrics.ts';
import { presentAll, readCronJobList, readInBatches } from './list.ts';
import { cronJobQuery, cronJobsQuery, cronJobsRules } from './query.ts';
import { presentAlerts } from '../alerts/present.ts';
import { presentExecution } from '../executions/present.ts';
import { orNull, toSeconds, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { explainRuns } from '../verdicts/explain-run.ts';

/** Without a page everything is read at once. */
function wholeList(ctx: ApiContext): number {
  if (isExport(ctx)) return 2;
  return new URLSearchParams(ctx.querystring).get('limit') ? 0 : 1;
}

/** The CronJobs that monitors select, one of them, and the removal of its history. */
export const cronJobsRoutes = [
  route(
    {
      method: 'GET',
      path: '/cronjobs',
      tag: 'CronJobs',
      id: 'listCronJobs',
      says: 'The CronJobs that monitors select, or the groups of Jobs',
      ability: 'read',
      ...exportable,
      expensive: wholeList,
      query: cronJobsQuery,
      rules: [...cronJobsRules],
      answer: CronJobList,
    },
    async ({ deps, ctx, query }) => {
      if (query.format) {
        const batches = readInBatches(deps, query);
        return answerExport(deps, ctx, query.format, { name: 'cronjobs', columns: cronJobColumns, batches });
      }
      return deps.answers.read(['cronjobs', query], () => readCronJobList(deps, query));
    },
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name',
      tag: 'CronJobs',
      id: 'getCronJob',
      says: 'One CronJob with figures, alerts and its newest runs',
      ability: 'read',
      query: cronJobQuery,
      answer: CronJobDetail,
    },
    async ({ deps, ctx, query: { recent = 0 } }) => {
      const { store } = deps;
      const known = await getKnownCronJob(store, ctx.params);
      return deps.answers.read(['cronjob', known.ids, recent], async () => {
        const detail = await readCronJobDetail(deps, known, recent);
        if (!detail) throw notFound('CronJob', `${known.cronJob.namespace}/${known.cronJob.name}`, 'deleted');
        return detail;
      });
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/cronjobs/:namespace/:name/history',
      tag: 'CronJobs',
      id: 'deleteHistory',
      says: 'Removes all that was recorded of a name, for good; alerts stay',
      ability: 'deleteHistory',
      answer: DeleteHistoryResult,
    },
    async ({ deps: { store, actions }, ctx }) => {
      const { cronJob } = await getKnownCronJob(store, ctx.params);
      return actions.deleteHistory(cronJob);
    },
  ),
];

/** Newest runs that the page of a CronJob shows at once. */
const shownExecutions = 20;

/** One CronJob with its figures, its running Jobs and its newest runs. */
async function readCronJobDetail(
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
