import { Series, type FactOfDay, type SeriesDay } from '@cronjob-monitor/shared/contract';
import { dayOf, judgeDay, nearestRank, slaOf, startOfDay } from '@cronjob-monitor/shared/domain';
import {
  findOldestDay,
  listDayDurations,
  listDays,
  listFactPoints,
  listMonitors,
  listMonitorsOf,
  type DayCounts,
  type DayDurations,
  type DaysOf,
  type Db,
  type FactPoint,
} from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { names, namespaces, oneMonitor, whole } from '../../middleware/parameters.ts';
import { orNull, toPercent, toSecondsOrNull, toWireDate, toWireInstant } from '../../wire-values.ts';

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

interface SeriesFacts {
  /** The last one: days since 1970. */
  readonly today: number;
  readonly days: number;
  readonly counts: readonly DayCounts[];
  /** Empty for the fleet. */
  readonly durations: ReadonlyMap<number, DayDurations>;
  /** Oldest day with figures; undefined: none. */
  readonly oldestDay: number | undefined;
  /** By name of the facts that were asked for. */
  readonly facts: ReadonlyMap<string, readonly FactPoint[]>;
  /** Percent; undefined: nothing is promised. */
  readonly target: number | undefined;
}

const nothing: Omit<DayCounts, 'day'> = {
  success: 0,
  failed: 0,
  replaced: 0,
  deleted: 0,
  unobserved: 0,
  manual: 0,
  late: 0,
  missed: 0,
  skipped: 0,
  suspended: 0,
  unseen: 0,
  alerts: 0,
};

/** One item for each day, oldest first: a day on which nothing ran has zeros, one before all figures is not recorded. */
function presentSeries({ today, days, counts, durations, oldestDay, target, facts }: SeriesFacts): Series {
  const factsOf = factsByDay(facts);
  const countsOf = new Map(counts.map((count) => [count.day, count]));
  const items = Array.from({ length: days }, (_, index) => {
    const day = today - days + 1 + index;
    const recorded = oldestDay !== undefined && day >= oldestDay;
    const shown = { durations: durations.get(day), facts: factsOf.get(day) ?? {} };
    return presentDay({ ...nothing, ...countsOf.get(day), day }, shown, recorded ? target : 'notRecorded');
  });
  return {
    items,
    target: orNull(target),
    figuresFrom: oldestDay === undefined ? null : toWireInstant(startOfDay(oldestDay)),
    approximate: [...durations.values()].some(({ approximate }) => approximate),
  };
}

function presentDay(
  counts: DayCounts,
  { durations, facts }: { readonly durations: DayDurations | undefined; readonly facts: SeriesDay['facts'] },
  target: number | undefined | 'notRecorded',
): SeriesDay {
  const recorded = target !== 'notRecorded';
  const runs = counts.success + counts.failed;
  return {
    date: toWireDate(counts.day),
    recorded,
    verdict: recorded ? judgeDay(counts, target) : 'notRecorded',
    runs,
    success: counts.success,
    failed: counts.failed,
    other: counts.replaced + counts.deleted + counts.unobserved,
    manual: counts.manual,
    successRate: toPercent(counts.success, runs),
    avgDurationSeconds: toSecondsOrNull(durations?.avgMs),
    p50DurationSeconds: toSecondsOrNull(durations?.p50Ms),
    p95DurationSeconds: toSecondsOrNull(durations?.p95Ms),
    maxDurationSeconds: toSecondsOrNull(durations?.maxMs),
    alerts: counts.alerts,
    slots: {
      late: counts.late,
      missed: counts.missed,
      skipped: counts.skipped,
      suspended: counts.suspended,
      unseen: counts.unseen,
    },
    facts,
  };
}

function factsByDay(facts: SeriesFacts['facts']): ReadonlyMap<number, SeriesDay['facts']> {
  const days = new Map<number, Record<string, FactOfDay>>();
  for (const [name, points] of facts) {
    for (const [day, ofDay] of Map.groupBy(points, ({ createdAt }) => dayOf(createdAt))) {
      const rising = ofDay.map(({ value }) => value).sort((a, b) => a - b);
      const [min = 0] = rising;
      const median = nearestRank(rising, 0.5) ?? min;
      const figures = { min, median, max: rising.at(-1) ?? min, last: ofDay.at(-1)?.value ?? min };
      days.set(day, { ...days.get(day), [name]: figures });
    }
  }
  return days;
}
