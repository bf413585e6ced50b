import { Grid, type GridCell, gridSortKeys, slotOutcomes } from '@cronjob-monitor/shared/contract';
import {
  type CatalogCronJob,
  type Cell,
  type CellWindow,
  countCronJobs,
  countGridCells,
  listCronJobs,
  listGridCells,
} from '@cronjob-monitor/shared/store';
import { hourMs, statusOf } from '@cronjob-monitor/shared/domain';
import { judgeCronJobs } from '../verdicts/of-cron-jobs.ts';
import { readLateAfterMs } from '../known-cron-job.ts';
import { pageOf, type PageRequest, toPagination, usualPageSize } from '../../middleware/pagination.ts';
import type { Values } from '../../middleware/validate.ts';
import { cutToMinute } from '../../windows.ts';
import { orNull, toSecondsOrNull, toWireInstant } from '../../wire-values.ts';
import { figuresFromOf } from '../figures-from.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import {
  instant,
  limit,
  namespaces,
  oneMonitor,
  paging,
  search,
  sort,
  whole,
  words,
} from '../../middleware/parameters.ts';

const gridQuery = {
  hours: whole('Width of the window, 24 without it.', { min: 1, max: 168 }),
  until: instant('End of the window; without it now.'),
  namespace: namespaces,
  monitor: oneMonitor,
  search: search(),
  outcome: words('What became of expected runs.', slotOutcomes),
  sort: sort(gridSortKeys, { key: 'name', descending: false }),
  limit: limit(100),
  offset: paging.offset,
};
type GridQuery = Values<typeof gridQuery>;

const defaultHours = 24;
/** The newest cells of a CronJob that are listed. */
const mostCells = 200;

/** GET /grid: the past, a lane for each CronJob. */
export const gridRoutes = [
  route(
    {
      method: 'GET',
      path: '/grid',
      tag: 'Time',
      id: 'getGrid',
      says: 'Runs that were, a lane for each CronJob',
      ability: 'read',
      expensive: 1,
      query: gridQuery,
      answer: Grid,
    },
    ({ deps, query }) => readGrid(deps, query),
  ),
];

async function readGrid(deps: RouteDeps, query: GridQuery): Promise<Grid> {
  const { store, clock } = deps;
  const { hours = defaultHours } = query;
  const until = query.until ?? cutToMinute(clock.now()) + 60_000;
  const window = { from: until - hours * hourMs, until, lateAfterMs: await readLateAfterMs(store) };
  const page = pageOf(query, usualPageSize);
  const { cronJobs, total } = await readLanes(deps, query, page, window);
  const ids = cronJobs.map(({ id }) => id);
  const [judged, cells, counts] = await Promise.all([
    judgeCronJobs(deps, cronJobs),
    listGridCells(store, ids, window, mostCells),
    countGridCells(store, ids, window),
  ]);
  return {
    from: toWireInstant(window.from),
    until: toWireInstant(until),
    items: cronJobs.map((cronJob) => {
      const { id, namespace, name } = cronJob;
      const verdict = judged.verdictOf(cronJob);
      const status = statusOf(verdict.state);
      const shown = cells.get(id) ?? [];
      const all = [...(counts.get(id)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
      return {
        namespace,
        name,
        status,
        verdict,
        figuresFrom: toWireInstant(figuresFromOf(cronJob)),
        cells: shown.map(presentCell),
        omitted: Math.max(0, all - shown.length),
      };
    }),
    pagination: toPagination(page, total),
  };
}

/** The CronJobs of a page; with `outcome` those that have such a cell. */
async function readLanes(
  { store }: RouteDeps,
  query: GridQuery,
  page: PageRequest,
  window: CellWindow,
): Promise<{ readonly cronJobs: readonly CatalogCronJob[]; readonly total: number }> {
  const { namespace, monitor, search, sort, outcome } = query;
  const filter = { kinds: ['CronJob'], namespaces: namespace, monitor, search } as const;
  if (outcome.length === 0) {
    const [cronJobs, { total }] = await Promise.all([
      listCronJobs(store, filter, { sort, page }),
      countCronJobs(store, filter),
    ]);
    return { cronJobs, total };
  }
  const all = await listCronJobs(store, filter, { sort });
  const counts = await countGridCells(
    store,
    all.map(({ id }) => id),
    window,
  );
  const kept = all.filter(({ id }) => outcome.some((word) => counts.get(id)?.has(word)));
  return { cronJobs: kept.slice(page.offset, page.offset + page.limit), total: kept.length };
}

function presentCell(cell: Cell): GridCell {
  return {
    at: toWireInstant(cell.at),
    outcome: orNull(cell.outcome),
    jobName: orNull(cell.jobName),
    status: orNull(cell.status),
    trigger: orNull(cell.trigger),
    durationSeconds: toSecondsOrNull(cell.durationMs),
  };
}
