import type { Series } from '@cronjob-monitor/shared/contract';
import { dayOf } from '@cronjob-monitor/shared/domain';
import {
  findOldestDay,
  listDayDurations,
  listDays,
  listMonitors,
  listMonitorsOf,
  type DaysOf,
  type Db,
} from '@cronjob-monitor/shared/store';
import { slaOf } from '../../monitor-spec.ts';
import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { presentSeries } from './present.ts';
import { defaultDays, fleetSeriesQuery, seriesQuery } from './query.ts';

/**
 * @openapi
 * /series:
 *   get:
 *     tags: [Time]
 *     operationId: getFleetSeries
 *     summary: Figures of the fleet by UTC day
 *     x-ability: read
 *     x-query: [days, namespaces, monitor]
 *     x-answers: { 200: Series }
 *     x-refusals: [429]
 * /cronjobs/{namespace}/{name}/series:
 *   get:
 *     tags: [Time]
 *     operationId: getSeries
 *     summary: Figures of a CronJob by UTC day
 *     x-ability: read
 *     x-query: [days]
 *     x-answers: { 200: Series }
 *     x-refusals: [404]
 */

/** Figures by UTC day, of one name and of the fleet. */
export function seriesRouter(deps: RouteDeps): ApiRouter {
  const { guard, store } = deps;
  return createRouter()
    .get('/series', guard({ ability: 'read', expensive: 1 }), async (ctx) => {
      const { days = defaultDays, namespace, monitor } = readQuery(ctx, fleetSeriesQuery);
      ctx.body = await readSeries(deps, { namespaces: namespace, monitor }, days);
    })
    .get('/cronjobs/:namespace/:name/series', guard({ ability: 'read' }), async (ctx) => {
      const { days = defaultDays } = readQuery(ctx, seriesQuery);
      const { ids, cronJob } = await getKnownCronJob(store, ctx.params);
      ctx.body = await readSeries(deps, { cronJobIds: ids }, days, await rateTargetOf(store, cronJob.id));
    });
}

/** Durations of different CronJobs are no figure together: the fleet has none. */
async function readSeries({ store, clock }: RouteDeps, of: DaysOf, days: number, target?: number): Promise<Series> {
  const today = dayOf(clock.now());
  const window = { from: today - days + 1, to: today };
  const [counts, oldestDay, durations] = await Promise.all([
    listDays(store, of, window),
    findOldestDay(store, of),
    'cronJobIds' in of ? listDayDurations(store, of.cronJobIds, window) : new Map(),
  ]);
  return presentSeries({ today, days, counts, durations, oldestDay, target });
}

/** In percent, of the monitor that leads; undefined: it promises nothing. */
async function rateTargetOf(db: Db, cronJobId: number): Promise<number | undefined> {
  const [monitors, [leading]] = await Promise.all([listMonitors(db), listMonitorsOf(db, [cronJobId])]);
  return slaOf(monitors.find(({ id }) => id === leading?.monitorId)?.spec).minSuccessRate;
}
