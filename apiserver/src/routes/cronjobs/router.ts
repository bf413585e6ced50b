import type { ApiContext } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { readNoBody, readQuery } from '../../middleware/validate.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { readCronJobDetail } from './detail.ts';
import { answerExport, exportable, isExport } from '../export/answer.ts';
import { cronJobColumns } from '../export/columns.ts';
import { readCronJobList, readInBatches } from './list.ts';
import { cronJobQuery, cronJobsQuery, cronJobsRules } from './query.ts';

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
 *     summary: The CronJobs that monitors select
 *     x-ability: read
 *     x-query: [namespaces, cronJobStatuses, cronJobStates, search, monitor, slaVerdicts, includeRemoved, recent, cronJobSort, limit, offset, export]
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
