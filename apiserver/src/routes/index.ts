import type { ApiRouter, RouteDeps } from './deps.ts';
import type { Route } from './route.ts';
import { adminRoutes } from './admin/router.ts';
import { adviceRoutes } from './advice/router.ts';
import { alertRouter } from './alert/router.ts';
import { alertsRouter } from './alerts/router.ts';
import { bulkRoutes } from './bulk/router.ts';
import { channelsRouter } from './channels/router.ts';
import { configRoutes } from './config/router.ts';
import { cronJobActionsRouter } from './cronjob-actions/router.ts';
import { coverageRouter } from './coverage/router.ts';
import { cronJobsRouter } from './cronjobs/router.ts';
import { deliveriesRouter } from './deliveries/router.ts';
import { drillsRouter } from './drills/router.ts';
import { executionsRouter } from './executions/router.ts';
import { gridRouter } from './grid/router.ts';
import { wallRouter } from './wall/router.ts';
import { healthRouter } from './health/router.ts';
import { logsRouter } from './logs/router.ts';
import { monitorsRouter } from './monitors/router.ts';
import { patternsRouter } from './patterns/router.ts';
import { previewRouter } from './preview/router.ts';
import { seriesRouter } from './series/router.ts';
import { silencesRouter } from './silences/router.ts';
import { slaRouter } from './sla/router.ts';
import { slotsRouter } from './slots/router.ts';
import { statsRoutes } from './stats/router.ts';
import { streamRouter } from './stream/router.ts';
import { timelineRouter } from './timeline/router.ts';
import { tonightRouter } from './tonight/router.ts';
import { whoamiRouter } from './whoami/router.ts';

export type { ApiRouter, RouteDeps } from './deps.ts';
export { createApiRouter, route, type Route } from './route.ts';
export { keepEndedRuns } from './tonight/ended-runs.ts';
export { gatherFigures } from './cronjobs/figures.ts';
export { gatherMetrics } from './cronjobs/metrics.ts';
export { gatherHealth, presentHealth } from './health/router.ts';

/** Every operation of /api/v1; of two paths that match the first one answers. */
export const routes: readonly Route[] = [
  ...statsRoutes,
  ...configRoutes,
  ...adviceRoutes,
  ...bulkRoutes,
  ...adminRoutes,
];

/** The resources that are not written as routes yet: one line each. */
export function createRoutes(deps: RouteDeps): readonly ApiRouter[] {
  return [
    healthRouter(deps),
    whoamiRouter(deps),
    monitorsRouter(deps),
    previewRouter(deps),
    cronJobsRouter(deps),
    coverageRouter(deps),
    cronJobActionsRouter(deps),
    executionsRouter(deps),
    logsRouter(deps),
    slotsRouter(deps),
    seriesRouter(deps),
    timelineRouter(deps),
    tonightRouter(deps),
    gridRouter(deps),
    wallRouter(deps),
    slaRouter(deps),
    alertsRouter(deps), // before one alert: its history is not an id
    alertRouter(deps),
    silencesRouter(deps),
    channelsRouter(deps),
    drillsRouter(deps),
    deliveriesRouter(deps),
    patternsRouter(deps),
    streamRouter(deps),
  ];
}
