import { Router } from '@koa/router';
import type { ApiContext, ApiState } from '../context.ts';
import { answerOfAll, isMerged } from './clusters/merge.ts';
import type { RouteDeps } from './deps.ts';
import type { Route } from './route.ts';
import { adminRoutes } from './admin/router.ts';
import { adviceRoutes } from './advice/router.ts';
import { bulkRoutes } from './bulk/router.ts';
import { alertRoutes } from './alert/router.ts';
import { alertsRoutes } from './alerts/router.ts';
import { channelsRoutes } from './channels/router.ts';
import { configRoutes } from './config/router.ts';
import { cronJobActionsRoutes } from './cronjob-actions/router.ts';
import { clustersRoutes } from './clusters/router.ts';
import { coverageRoutes } from './coverage/router.ts';
import { cronJobsRoutes } from './cronjobs/router.ts';
import { deliveriesRoutes } from './deliveries/router.ts';
import { drillsRoutes } from './drills/router.ts';
import { executionsRoutes } from './executions/router.ts';
import { gridRoutes } from './grid/router.ts';
import { wallRoutes } from './wall/router.ts';
import { healthRoutes } from './health/router.ts';
import { incidentsRoutes } from './incidents/router.ts';
import { logsRoutes } from './logs/router.ts';
import { monitorsRoutes } from './monitors/router.ts';
import { patternsRoutes } from './patterns/router.ts';
import { previewRoutes } from './preview/router.ts';
import { seriesRoutes } from './series/router.ts';
import { silencesRoutes } from './silences/router.ts';
import { slaRoutes } from './sla/router.ts';
import { slotsRoutes } from './slots/router.ts';
import { statsRoutes } from './stats/router.ts';
import { streamRoutes } from './stream/router.ts';
import { timelineRoutes } from './timeline/router.ts';
import { tonightRoutes } from './tonight/router.ts';
import { whoamiRoutes } from './whoami/router.ts';

export type * from './deps.ts';
export { type AskedAnswer, type AskedCall, type Elsewhere, askInTurn } from './clusters/ask.ts';
export * from './clusters/silence.ts';
export * from './route.ts';
export { gatherHealth, presentHealth } from './health/router.ts';

export const routes: readonly Route[] = [
  ...healthRoutes,
  ...whoamiRoutes,
  ...statsRoutes,
  ...incidentsRoutes,
  ...clustersRoutes,
  ...monitorsRoutes,
  ...previewRoutes,
  ...cronJobsRoutes,
  ...coverageRoutes,
  ...cronJobActionsRoutes,
  ...executionsRoutes,
  ...logsRoutes,
  ...slotsRoutes,
  ...seriesRoutes,
  ...timelineRoutes,
  ...tonightRoutes,
  ...gridRoutes,
  ...wallRoutes,
  ...slaRoutes,
  ...alertsRoutes, // before one alert: its history is not an id
  ...alertRoutes,
  ...silencesRoutes,
  ...channelsRoutes,
  ...drillsRoutes,
  ...deliveriesRoutes,
  ...patternsRoutes,
  ...adviceRoutes,
  ...bulkRoutes,
  ...configRoutes,
  ...adminRoutes,
  ...streamRoutes,
];

type ApiRouter = Router<ApiState, Pick<ApiContext, 'params'>>;

/** The router of /api/v1. A trailing slash and another case are another path; of two paths that match the first one answers. */
export function createApiRouter(deps: RouteDeps, routes: readonly Route[]): ApiRouter {
  const router: ApiRouter = new Router({ prefix: '/api/v1', strict: true, sensitive: true });
  for (const each of routes) {
    const handle = (ctx: ApiContext): Promise<void> =>
      ctx.state.isOfAllClusters && isMerged(each) ? answerOfAll(each, deps, ctx) : each.handle(deps, ctx);
    router.register(each.path, [each.method], [deps.guard(each), handle]);
  }
  return router;
}
