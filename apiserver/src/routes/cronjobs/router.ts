import {
  CronJob,
  CronJobDetail,
  type CronJobInclude,
  cronJobIncludes,
  CronJobList,
  DeleteHistoryResult,
} from '@cronjob-monitor/shared/contract';
import type { ApiContext } from '../../context.ts';
import { readIncludedAdvice } from '../advice/router.ts';
import { readIncludedRoute } from '../coverage/router.ts';
import { readNewestRuns } from '../executions/router.ts';
import { getKnownCronJob, type KnownCronJob } from '../known-cron-job.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { readTargetsOf } from '../sla/router.ts';
import { readUnmetSlots } from '../slots/router.ts';
import { readTonightOf, tonightZone, zoneIsKnown } from '../tonight/router.ts';
import { answerExport, columnsOf, exportable, isExport } from '../export/answer.ts';
import { readCronJobDetail } from './detail.ts';
import { exportCronJobs, readCronJobList } from './list.ts';
import { cronJobsQuery, type CronJobsQuery } from './query.ts';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import type { Rule } from '../../middleware/validate.ts';
import { whole, words } from '../../middleware/parameters.ts';

const cronJobQuery = {
  recent: whole('So many recent runs.', { min: 0, max: 90 }),
  include: words(
    'Answers of other endpoints in this one: the newest 20 runs, the newest 20 expected runs of 30 days that no run answered, who hears now if it fails, the worst two findings, what may go wrong tonight or with its next run, its targets.',
    cronJobIncludes,
  ),
  zone: tonightZone,
};

/** Strips of a whole fleet would be a history, not a list. */
const recentNeedsLimit: Rule<CronJobsQuery> = ({ recent = 0, limit }) =>
  recent > 0 && limit === undefined
    ? [{ in: 'query', field: 'recent', message: 'needs limit when it is above 0', allowed: null }]
    : [];

const cronJobsRules: readonly Rule<CronJobsQuery>[] = [offsetNeedsLimit, recentNeedsLimit, exportsAreWhole];

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
        const batches = exportCronJobs(deps, query);
        return answerExport(deps, ctx, query.format, { name: 'cronjobs', columns: columnsOf(CronJob), batches });
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
      rules: [zoneIsKnown],
      answer: CronJobDetail,
    },
    async ({ deps, ctx, query: { recent = 0, include, zone } }) => {
      const known = await getKnownCronJob(deps.store, ctx.params);
      const detail = await readCronJobDetail(deps, known, recent);
      return include.length === 0
        ? detail
        : { ...detail, ...(await readIncluded(deps, ctx, known, { include, zone })) };
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

/** What its other endpoints answer, in the same answer. */
async function readIncluded(
  deps: RouteDeps,
  ctx: ApiContext,
  known: KnownCronJob,
  { include, zone }: { readonly include: readonly CronJobInclude[]; readonly zone: string | undefined },
): Promise<Pick<CronJobDetail, CronJobInclude>> {
  const [runs, slots, routes, advice, tonight, targets] = await Promise.all([
    include.includes('runs') ? readNewestRuns(deps, known) : undefined,
    include.includes('slots') ? readUnmetSlots(deps, known) : undefined,
    include.includes('route') ? readIncludedRoute(deps, ctx, known) : undefined,
    include.includes('advice') ? readIncludedAdvice(deps, ctx, known) : undefined,
    include.includes('tonight') ? readTonightOf(deps, known.cronJob, zone) : undefined,
    include.includes('targets') ? readTargetsOf(deps, known.cronJob) : undefined,
  ]);
  return {
    ...(runs && { runs }),
    ...(slots && { slots }),
    ...(routes !== undefined && { route: routes }),
    ...(advice && { advice }),
    ...(tonight !== undefined && { tonight }),
    ...(targets && { targets }),
  };
}
