import { Series } from '@cronjob-monitor/shared/contract';
import { dayOf, slaOf, startOfDay } from '@cronjob-monitor/shared/domain';
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
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { presentSeries } from './present.ts';
import { names, namespaces, oneMonitor, whole } from '../../middleware/parameters.ts';

const days = whole('UTC days, 30 without it; today is the last.', { min: 1, max: 365 });
const defaultDays = 30;

/** Figures by UTC day, of one name and of the fleet. */
export const seriesRoutes = [
  route(
    {
      method: 'GET',
      path: '/series',
      tag: 'Time',
      id: 'getFleetSeries',
      says: 'Figures of the fleet by UTC day',
      ability: 'read',
      expensive: 1,
      query: { days, namespace: namespaces, monitor: oneMonitor },
      answer: Series,
    },
    ({ deps, query: { days = defaultDays, namespace, monitor } }) =>
      readSeries(deps, { namespaces: namespace, monitor }, days),
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/series',
      tag: 'Time',
      id: 'getSeries',
      says: 'Figures of a CronJob by UTC day',
      ability: 'read',
      query: {
        days,
        facts: names('Names of facts, repeated or with commas: their figures come with each day.', 32),
      },
      answer: Series,
    },
    async ({ deps, ctx, query: { days = defaultDays, facts } }) => {
      const { store } = deps;
      const { ids, cronJob } = await getKnownCronJob(store, ctx.params);
      const target = await rateTargetOf(store, cronJob.id);
      return readSeries(deps, { cronJobIds: ids, facts }, days, target);
    },
  ),
];

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
