import type { CronJob, CronJobList, CronJobStatusFilter, CronJobSummary } from '@cronjob-monitor/shared/contract';
import {
  countCronJobs,
  listCronJobs,
  listOpenAlerts,
  listRecentRuns,
  type CatalogCronJob,
  type CronJobFilter,
} from '@cronjob-monitor/shared/store';
import { readLateAfterMs } from '../late-after.ts';
import { pageOnWish, toPagination, type PageRequest } from '../../middleware/pagination.ts';
import { judgeRate } from '../../sla-verdict.ts';
import type { RouteDeps } from '../deps.ts';
import { gatherFigures, type CronJobFigures } from './figures.ts';
import { isStoredSort, sortCronJobs } from './order.ts';
import { presentCronJob } from './present.ts';
import type { CronJobsQuery } from './query.ts';

interface Found {
  /** Of the page alone. */
  readonly cronJobs: readonly CatalogCronJob[];
  readonly total: number;
  readonly summary: CronJobSummary;
}

/** CronJobs of one batch of an export. */
const batchSize = 500;

/** All of the list, presented in parts. */
export async function* readInBatches(
  deps: RouteDeps,
  query: CronJobsQuery,
): AsyncGenerator<readonly CronJob[], void, undefined> {
  const { cronJobs } = await find(deps, query, undefined);
  // At least one batch: what the database refuses is then an answer.
  for (let start = 0; start === 0 || start < cronJobs.length; start += batchSize) {
    // One batch after the other: as they are sent.
    yield await presentAll(deps, cronJobs.slice(start, start + batchSize), 0);
  }
}

/** The list: the database finds, sorts and cuts the page wherever it can; the page's figures are read with it. */
export async function readCronJobList(deps: RouteDeps, query: CronJobsQuery): Promise<CronJobList> {
  const page = pageOnWish(query);
  const found = await find(deps, query, page);
  const items = await presentAll(deps, found.cronJobs, query.recent ?? 0);
  return { items, summary: found.summary, ...(page ? { pagination: toPagination(page, found.total) } : {}) };
}

function find(deps: RouteDeps, query: CronJobsQuery, page: PageRequest | undefined): Promise<Found> {
  const { key, descending } = query.sort;
  const filter: CronJobFilter = {
    namespaces: query.namespace,
    search: query.search,
    monitor: query.monitor,
    includeRemoved: query.includeRemoved,
  };
  return query.sla.length === 0 && isStoredSort(key)
    ? findStored(deps, filter, query.status, { sort: { key, descending }, page })
    : findComputed(deps, filter, query, page);
}

async function findStored(
  { store }: RouteDeps,
  filter: CronJobFilter,
  statuses: readonly CronJobStatusFilter[],
  order: Pick<NonNullable<Parameters<typeof listCronJobs>[2]>, 'sort' | 'page'>,
): Promise<Found> {
  const [counts, cronJobs] = await Promise.all([
    countCronJobs(store, filter, statuses),
    listCronJobs(store, filter, { ...order, statuses }),
  ]);
  return { cronJobs, ...counts };
}

/** For keys and filters that no column holds: all that the other filters let through is read and ordered here. */
async function findComputed(
  { store, clock, settings, answers }: RouteDeps,
  filter: CronJobFilter,
  query: CronJobsQuery,
  page: PageRequest | undefined,
): Promise<Found> {
  const { key, descending } = query.sort;
  const now = clock.now();
  const sort = isStoredSort(key) ? { sort: { key, descending } } : {};
  // Every order of the same CronJobs is made of the same rows and figures.
  const rowsKey = `rows ${JSON.stringify([filter, sort])}`;
  const all = await answers.read(rowsKey, () => listCronJobs(store, filter, sort));
  const needsFigures = query.sla.length > 0 || key === 'successRate' || key === 'verdict';
  const figures = needsFigures
    ? await answers.read(`figures of ${rowsKey}`, () => gatherFigures(store, all, now, { withPrevious: false }))
    : new Map<number, CronJobFigures>();
  const judged = query.sla.length === 0 ? all : all.filter(({ id }) => hasVerdict(figures.get(id), query.sla));
  const kept = judged.filter((cronJob) => hasStatus(cronJob, query.status));
  const { defaultTimeZone } = settings;
  const facts = { figuresOf: (id: number) => figures.get(id), now, defaultTimeZone };
  const sorted = isStoredSort(key) ? kept : sortCronJobs(kept, { key, descending }, facts);
  return {
    cronJobs: page ? sorted.slice(page.offset, page.offset + page.limit) : sorted,
    total: kept.length,
    summary: summarise(judged),
  };
}

function hasVerdict(figures: CronJobFigures | undefined, verdicts: CronJobsQuery['sla']): boolean {
  return figures !== undefined && verdicts.includes(judgeRate(figures.judged.current, figures.sla));
}

const statusFilters: Readonly<Record<CronJobStatusFilter, (cronJob: CatalogCronJob) => boolean>> = {
  healthy: ({ status }) => status === 'healthy',
  warning: ({ status }) => status === 'warning',
  critical: ({ status }) => status === 'critical',
  suspended: ({ suspended }) => suspended,
  running: ({ running }) => running > 0,
  unknown: ({ status }) => status === 'unknown',
};

function hasStatus(cronJob: CatalogCronJob, statuses: readonly CronJobStatusFilter[]): boolean {
  return statuses.length === 0 || statuses.some((status) => statusFilters[status](cronJob));
}

function summarise(cronJobs: readonly CatalogCronJob[]): CronJobSummary {
  const count = (status: CronJobStatusFilter): number => cronJobs.filter(statusFilters[status]).length;
  return {
    healthy: count('healthy'),
    warning: count('warning'),
    critical: count('critical'),
    suspended: count('suspended'),
    running: count('running'),
    unknown: count('unknown'),
  };
}

/** Items of the list, each read with as few questions as one of them alone would need. */
export async function presentAll(
  { store, clock, settings }: RouteDeps,
  cronJobs: readonly CatalogCronJob[],
  recent: number,
): Promise<CronJob[]> {
  const now = clock.now();
  const ids = cronJobs.map(({ id }) => id);
  const withAlerts = cronJobs.filter(({ worstSeverity }) => worstSeverity !== undefined).map(({ id }) => id);
  const [figures, alerts, recentRuns] = await Promise.all([
    gatherFigures(store, cronJobs, now),
    listOpenAlerts(store, withAlerts),
    readLateAfterMs(store).then((lateAfterMs) => listRecentRuns(store, ids, { count: recent, lateAfterMs })),
  ]);
  const alertsOf = Map.groupBy(alerts, ({ cronJobId }) => cronJobId);
  return cronJobs.flatMap((cronJob) => {
    const figuresOfOne = figures.get(cronJob.id);
    if (!figuresOfOne) return [];
    return presentCronJob({
      cronJob,
      figures: figuresOfOne,
      alerts: alertsOf.get(cronJob.id) ?? [],
      recent: recent > 0 ? (recentRuns.get(cronJob.id) ?? []) : undefined,
      now,
      defaultTimeZone: settings.defaultTimeZone,
    });
  });
}
