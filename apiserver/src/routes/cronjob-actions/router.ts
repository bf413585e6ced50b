import { listActiveJobs } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { readNoBody, readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { getStartable } from '../known-cron-job.ts';
import { flag } from '../../middleware/parameters.ts';

const triggerQuery = { force: flag('Also beside an unfinished Job, whatever the policy says.') };

const one = '/cronjobs/:namespace/:name';

/**
 * @openapi
 * /cronjobs/{namespace}/{name}/trigger:
 *   post:
 *     tags: [CronJobs]
 *     operationId: triggerCronJob
 *     summary: Starts a Job now, as kubectl create job --from does
 *     x-ability: trigger
 *     x-query: [force]
 *     x-answers: { 200: TriggerResult }
 *     x-refusals: [404, 409, 429, 502]
 * /cronjobs/{namespace}/{name}/suspend:
 *   post:
 *     tags: [CronJobs]
 *     operationId: suspendCronJob
 *     summary: Suspends it; again when it is suspended
 *     x-ability: suspend
 *     x-answers: { 200: SuspendResult }
 *     x-refusals: [404, 409, 502]
 * /cronjobs/{namespace}/{name}/resume:
 *   post:
 *     tags: [CronJobs]
 *     operationId: resumeCronJob
 *     summary: Resumes it; again when it is not suspended
 *     x-ability: suspend
 *     x-answers: { 200: SuspendResult }
 *     x-refusals: [404, 409, 502]
 */

/** What changes a CronJob in the cluster: only those that a monitor selects now. */
export function cronJobActionsRouter({ guard, store, actions }: RouteDeps): ApiRouter {
  const suspendOrResume = (suspended: boolean) => async (ctx: ApiContext) => {
    readQuery(ctx, {});
    readNoBody(ctx);
    ctx.body = await actions.setSuspended(await getStartable(store, ctx.params), suspended);
  };
  return createRouter()
    .post(`${one}/trigger`, guard({ ability: 'trigger', costly: true }), async (ctx) => {
      const { force = false } = readQuery(ctx, triggerQuery);
      readNoBody(ctx);
      const cronJob = await getStartable(store, ctx.params);
      const activeJobs = (await listActiveJobs(store, [cronJob.id])).map(({ jobName }) => jobName);
      ctx.body = await actions.trigger({ cronJob, activeJobs, force, by: ctx.state.caller?.user?.name ?? 'anonymous' });
    })
    .post(`${one}/suspend`, guard({ ability: 'suspend' }), suspendOrResume(true))
    .post(`${one}/resume`, guard({ ability: 'suspend' }), suspendOrResume(false));
}
