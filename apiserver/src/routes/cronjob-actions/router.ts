import { TriggerResult, SuspendResult } from '@cronjob-monitor/shared/contract';
import type { ActionKind } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { route } from '../route.ts';
import { actOn, type ActWish } from './act.ts';
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
    async ({ deps, ctx, query: { force } }) => actOn(deps, { ...wishOf('trigger', ctx), force }),
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
    async ({ deps, ctx }) => actOn(deps, wishOf('suspend', ctx)),
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
    async ({ deps, ctx }) => actOn(deps, wishOf('resume', ctx)),
  ),
];

function wishOf<Kind extends ActionKind>(kind: Kind, ctx: ApiContext): ActWish & { readonly kind: Kind } {
  const { namespace = '', name = '' } = ctx.params;
  return { kind, namespace, name, caller: ctx.state.caller };
}
