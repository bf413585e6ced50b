import { alertTypes, type AlertType, type CronJobRoutes } from '@cronjob-monitor/shared/contract';
import { findLiveLeader, findUnwatched, type Store } from '@cronjob-monitor/shared/store';
import { ApiError, internalError } from '../../errors.ts';
import { readQuery } from '../../middleware/validate.ts';
import { toWireInstant } from '../../wire-values.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { answerExport, exportable, isExport } from '../export/answer.ts';
import { coverageColumns } from '../export/columns.ts';
import { getSelectedCronJob } from '../known-cron-job.ts';
import { readCoverageInBatches, readCoverageList } from './list.ts';
import { coverageQuery, coverageRules, routeQuery, routeRules, withDefaults } from './query.ts';
import { readRoutes } from './routes-of.ts';

/**
 * @openapi
 * /coverage:
 *   get:
 *     tags: [Coverage]
 *     operationId: listCoverage
 *     summary: Of which CronJobs a failure would be heard, and where not, why
 *     x-ability: read
 *     x-query: [namespaces, coverageStates, monitor, search, coverageTypes, coverageDays, coverageProved, coverageSort, limit, offset, export]
 *     x-answers: { 200: CoverageList }
 * /cronjobs/{namespace}/{name}/route:
 *   get:
 *     tags: [Coverage]
 *     operationId: getRoute
 *     summary: What an alert of a CronJob would do now, for each monitor and type
 *     x-ability: read
 *     x-query: [alertTypes, coverageDays, coverageProved, routeAt]
 *     x-answers: { 200: CronJobRoutes }
 *     x-refusals: [404]
 */

/** Who would hear: of one CronJob, and of all. */
export function coverageRouter(deps: RouteDeps): ApiRouter {
  const { guard, store } = deps;
  return createRouter()
    .get(
      '/coverage',
      guard({ ability: 'read', ...exportable, expensive: (ctx) => (isExport(ctx) ? 2 : 1) }),
      async (ctx) => {
        const query = withDefaults(readQuery(ctx, coverageQuery, ...coverageRules));
        if (query.format) {
          const batches = readCoverageInBatches(deps, query);
          await answerExport(deps, ctx, query.format, { name: 'coverage', columns: coverageColumns, batches });
          return;
        }
        ctx.body = await deps.answers.read(['coverage', query], () => readCoverageList(deps, query));
      },
    )
    .get('/cronjobs/:namespace/:name/route', guard({ ability: 'read' }), async (ctx) => {
      const asked = readQuery(ctx, routeQuery, ...routeRules(store.now()));
      const { type, days = 30, proved: byDrills = false, at = store.now() } = asked;
      const cronJob = await getSelectedCronJob(store, ctx.params).catch(async (error: unknown) => {
        const isMissing = error instanceof ApiError && error.code === 'NOT_FOUND';
        if (isMissing && (await isUnwatched(store, ctx.params))) return undefined;
        throw error;
      });
      const { caller } = ctx.state;
      if (!caller) throw internalError(new Error('the request has no caller'));
      // What a message looks like tells of the channel's spec, which not everyone who reads the CronJob may read.
      const renders = type.length === 1 && (await deps.authentication.may(caller, 'readChannels', {}));
      const question = { types: typesOf(type), days, byDrills, at, isNow: asked.at === undefined, renders };
      const routes = cronJob ? await readRoutes(deps, cronJob, question) : [];
      const leader = await findLiveLeader(store, store.now(), deps.settings.leaseMs);
      const { namespace = '', name = '' } = ctx.params;
      ctx.body = {
        namespace,
        name,
        leader: leader !== undefined,
        at: toWireInstant(at),
        routes,
      } satisfies CronJobRoutes;
    });
}

/** It is there, and no monitor selects it. */
async function isUnwatched(store: Store, { namespace, name }: Readonly<Record<string, string>>): Promise<boolean> {
  return (await findUnwatched(store)).names.includes(`${namespace}/${name}`);
}

/** Each type once, in the order of `alertTypes`; all where none is asked for. */
function typesOf(asked: readonly AlertType[]): readonly AlertType[] {
  return asked.length === 0 ? alertTypes : alertTypes.filter((type) => asked.includes(type));
}
