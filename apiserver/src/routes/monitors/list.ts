import { monitorPhases, type Monitor, type MonitorList } from '@cronjob-monitor/shared/contract';
import { countAlertsOfMonitors, countTargets, listMonitors } from '@cronjob-monitor/shared/store';
import { pageOnWish, toPagination } from '../../middleware/pagination.ts';
import type { RouteDeps } from '../deps.ts';
import { presentMonitor } from './present.ts';
import type { MonitorsQuery } from './query.ts';

/** There are hundreds of monitors at most: they are filtered and ordered here. */
export async function readMonitorList(
  { store }: RouteDeps,
  query: MonitorsQuery,
  readable: readonly string[],
): Promise<MonitorList> {
  const [monitors, counts, alerts] = await Promise.all([
    listMonitors(store),
    countTargets(store, readable),
    countAlertsOfMonitors(store, readable),
  ]);
  const search = query.search?.toLowerCase();
  const items = monitors
    .filter(
      ({ namespace, name, phase }) =>
        (query.namespace.length === 0 || query.namespace.includes(namespace)) &&
        (query.phase.length === 0 || query.phase.includes(phase)) &&
        (search === undefined || name.includes(search)),
    )
    .map((monitor) =>
      presentMonitor({ monitor, counts: counts.get(monitor.id), activeAlerts: alerts.get(monitor.id) ?? 0 }),
    );
  const sorted = items.sort(comparator(query.sort));
  const page = pageOnWish(query);
  if (!page) return { items: sorted };
  return {
    items: sorted.slice(page.offset, page.offset + page.limit),
    pagination: toPagination(page, sorted.length),
  };
}

const keys: Readonly<Record<MonitorsQuery['sort']['key'], (monitor: Monitor) => string | number | null>> = {
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
  phase: ({ phase }) => monitorPhases.indexOf(phase),
  cronJobCount: ({ cronJobCount }) => cronJobCount,
  activeAlerts: ({ activeAlerts }) => activeAlerts,
  lastReconcile: ({ lastReconcile }) => lastReconcile,
};

/** Unknown values last both ways, ties by namespace and name. */
function comparator(sort: MonitorsQuery['sort']): (a: Monitor, b: Monitor) => number {
  const keyOf = keys[sort.key];
  const sign = sort.descending ? -1 : 1;
  return (a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left !== right) {
      if (left === null) return 1;
      if (right === null) return -1;
      return left < right ? -sign : sign;
    }
    return compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
