import type { Series } from '@cronjob-monitor/shared/contract';
import { dayOf, startOfDay } from '@cronjob-monitor/shared/domain';
import {
  findOldestDay,
  listDayDurations,
  listDays,
  listFactPoints,
  listMonitors,
  listMonitorsOf,
  type DaysOf,
  type Db,
  type FactPoint,
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
 *     x-query: [days, facts]
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
      const { days = defaultDays, facts } = readQuery(ctx, seriesQuery);
      const { ids, cronJob } = await getKnownCronJob(store, ctx.params);
      const target = await rateTargetOf(store, cronJob.id);
      ctx.body = await readSeries(deps, { cronJobIds: ids, facts }, days, target);
    });
}

/** Values of one fact that are read: a run each minute for a month. */
const mostFactPoints = 50_000;

/** Durations of different CronJobs are no figure together: the fleet has none. */
async function readSeries(
  { store, clock }: RouteDeps,
  of: DaysOf & { readonly facts?: readonly string[] },
  days: number,
  target?: number,
): Promise<Series> {
  const today = dayOf(clock.now());
  const window = { from: today - days + 1, to: today };
  const [counts, oldestDay, durations] = await Promise.all([
    listDays(store, of, window),
    findOldestDay(store, of),
    'cronJobIds' in of ? listDayDurations(store, of.cronJobIds, window) : new Map(),
  ]);
  const facts = new Map<string, readonly FactPoint[]>();
  const points = { fromAt: startOfDay(window.from), most: mostFactPoints };
  if ('cronJobIds' in of)
    for (const name of of.facts ?? []) facts.set(name, await listFactPoints(store, of.cronJobIds, name, points));
  return presentSeries({ today, days, counts, durations, oldestDay, target, facts });
}

/** In percent, of the monitor that leads; undefined: it promises nothing. */
async function rateTargetOf(db: Db, cronJobId: number): Promise<number | undefined> {
  const [monitors, [leading]] = await Promise.all([listMonitors(db), listMonitorsOf(db, [cronJobId])]);
  return slaOf(monitors.find(({ id }) => id === leading?.monitorId)?.spec).minSuccessRate;
}
