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
import type { ApiContext } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { readNoBody, readQuery } from '../../middleware/validate.ts';
import { getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { answerExport, exportable, isExport } from '../export/answer.ts';
import { cronJobColumns } from '../export/columns.ts';
import { readDeadMan } from './dead-man.ts';
import { readCronJobList, readInBatches, presentAll } from './list.ts';
import { cronJobQuery, cronJobsQuery, cronJobsRules } from './query.ts';
import { presentAlerts } from '../alerts/router.ts';
import { presentExecution } from '../executions/present.ts';
import { orNull, toSeconds, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { explainRuns } from '../verdicts/explain-run.ts';

const one = '/cronjobs/:namespace/:name';

/** Without a page everything is read at once. */
function wholeList(ctx: ApiContext): number {
  if (isExport(ctx)) return 2;
  return new URLSearchParams(ctx.querystring).get('limit') ? 0 : 1;
}

/**
 * @openapi
 * /cronjobs:
 *   get:
 *     tags: [CronJobs]
 *     operationId: listCronJobs
 *     summary: The CronJobs that monitors select, or the groups of Jobs
 *     x-ability: read
 *     x-query: [namespaces, cronJobKinds, cronJobStatuses, cronJobStates, search, similar, monitor, slaVerdicts, includeRemoved, recent, cronJobSort, limit, offset, export]
 *     x-answers: { 200: CronJobList }
 * /cronjobs/{namespace}/{name}:
 *   get:
 *     tags: [CronJobs]
 *     operationId: getCronJob
 *     summary: One CronJob with figures, alerts and its newest runs
 *     x-ability: read
 *     x-query: [recentOfOne]
 *     x-answers: { 200: CronJobDetail }
 *     x-refusals: [404]
 * /cronjobs/{namespace}/{name}/history:
 *   delete:
 *     tags: [CronJobs]
 *     operationId: deleteHistory
 *     summary: Removes all that was recorded of a name, for good; alerts stay
 *     x-ability: deleteHistory
 *     x-answers: { 200: DeleteHistoryResult }
 *     x-refusals: [404]
 */

/** The CronJobs that monitors select, one of them, and the removal of its history. */
export function cronJobsRouter(deps: RouteDeps): ApiRouter {
  const { guard, store, actions } = deps;
  return createRouter()
    .get('/cronjobs', guard({ ability: 'read', ...exportable, expensive: wholeList }), async (ctx) => {
      const query = readQuery(ctx, cronJobsQuery, ...cronJobsRules);
      if (query.format) {
        const batches = readInBatches(deps, query);
        await answerExport(deps, ctx, query.format, { name: 'cronjobs', columns: cronJobColumns, batches });
        return;
      }
      ctx.body = await deps.answers.read(['cronjobs', query], () => readCronJobList(deps, query));
    })
    .get(one, guard({ ability: 'read' }), async (ctx) => {
      const { recent = 0 } = readQuery(ctx, cronJobQuery);
      const known = await getKnownCronJob(store, ctx.params);
      ctx.body = await deps.answers.read(['cronjob', known.ids, recent], async () => {
        const detail = await readCronJobDetail(deps, known, recent);
        if (!detail) throw notFound('CronJob', `${known.cronJob.namespace}/${known.cronJob.name}`, 'deleted');
        return detail;
      });
    })
    .delete(`${one}/history`, guard({ ability: 'deleteHistory' }), async (ctx) => {
      readQuery(ctx, {});
      readNoBody(ctx);
      const { cronJob } = await getKnownCronJob(store, ctx.params);
      ctx.body = await actions.deleteHistory(cronJob);
    });
}

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
    deps.fleet.metrics(cronJob.id),
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
