import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { offsetNeedsLimit } from '../../middleware/pagination.ts';
import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { readMonitorDetail } from './detail.ts';
import { readMonitorList } from './list.ts';
import { monitorsQuery } from './query.ts';

/**
 * @openapi
 * /monitors:
 *   get:
 *     tags: [Monitors]
 *     operationId: listMonitors
 *     summary: Monitors with what their CronJobs come to
 *     x-ability: readMonitors
 *     x-query: [namespaces, monitorPhases, search, monitorSort, limit, offset]
 *     x-answers: { 200: MonitorList }
 * /monitors/{namespace}/{name}:
 *   get:
 *     tags: [Monitors]
 *     operationId: getMonitor
 *     summary: One monitor with its spec as applied
 *     x-ability: readMonitors
 *     x-answers: { 200: MonitorDetail }
 *     x-refusals: [404]
 */

/** The monitors, and one of them with what it selects. */
export function monitorsRouter(deps: RouteDeps): ApiRouter {
  const { guard } = deps;
  return createRouter()
    .get('/monitors', guard({ ability: 'readMonitors' }), async (ctx) => {
      const query = readQuery(ctx, monitorsQuery, offsetNeedsLimit);
      ctx.body = await readMonitorList(deps, query, await listReadable(deps, ctx));
    })
    .get('/monitors/:namespace/:name', guard({ ability: 'readMonitors' }), async (ctx) => {
      readQuery(ctx, {});
      const { namespace = '', name = '' } = ctx.params;
      ctx.body = await readMonitorDetail(deps, { namespace, name }, await listReadable(deps, ctx));
    });
}

/** A monitor may select CronJobs of other namespaces: those that the caller may not read are left out of rows and counts. Empty = all. */
async function listReadable({ authentication }: RouteDeps, ctx: ApiContext): Promise<readonly string[]> {
  const { caller } = ctx.state;
  if (!caller) throw internalError(new Error('the request has no caller'));
  return (await authentication.reach(caller, 'read', [])).within([]);
}
