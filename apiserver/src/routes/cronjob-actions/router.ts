import { TriggerResult, SuspendResult } from '@cronjob-monitor/shared/contract';
import { listActiveJobs } from '@cronjob-monitor/shared/store';
import { authorOf } from '../author.ts';
import { getStartable } from '../known-cron-job.ts';
import { route } from '../route.ts';
import { flag } from '../../middleware/parameters.ts';

const triggerQuery = { force: flag('Also beside an unfinished Job, whatever the policy says.') };

/** What changes a CronJob in the cluster: only those that a monitor selects now. */
export const cronJobActionsRoutes = [
  route(
    {
      method: 'POST',
      path: '/cronjobs/:namespace/:name/trigger',
      tag: 'CronJobs',
      id: 'triggerCronJob',
      says: 'Starts a Job now, as kubectl create job --from does',
      ability: 'trigger',
      elsewhere: true,
      costly: true,
      query: triggerQuery,
      answer: TriggerResult,
      refusals: [409, 502],
    },
    async ({ deps: { store, actions }, ctx, query: { force = false } }) => {
      const cronJob = await getStartable(store, ctx.params);
      const activeJobs = (await listActiveJobs(store, [cronJob.id])).map(({ jobName }) => jobName);
      const jobSuffix = ctx.state.actionId?.slice(-12);
      return actions.trigger({ cronJob, activeJobs, force, by: authorOf(ctx), jobSuffix });
    },
  ),
  route(
    {
      method: 'POST',
      path: '/cronjobs/:namespace/:name/suspend',
      tag: 'CronJobs',
      id: 'suspendCronJob',
      says: 'Suspends it; again when it is suspended',
      ability: 'suspend',
      elsewhere: true,
      answer: SuspendResult,
      refusals: [409, 502],
    },
    async ({ deps: { store, actions }, ctx: { params } }) =>
      actions.setSuspended(await getStartable(store, params), true),
  ),
  route(
    {
      method: 'POST',
      path: '/cronjobs/:namespace/:name/resume',
      tag: 'CronJobs',
      id: 'resumeCronJob',
      says: 'Resumes it; again when it is not suspended',
      ability: 'suspend',
      elsewhere: true,
      answer: SuspendResult,
      refusals: [409, 502],
    },
    async ({ deps: { store, actions }, ctx: { params } }) =>
      actions.setSuspended(await getStartable(store, params), false),
  ),
];
