import type { MonitorCronJob, MonitorDetail, Ref } from '@cronjob-monitor/shared/contract';
import {
  countAlertsOfMonitors,
  countTargets,
  findMonitor,
  listChannels,
  listCronJobs,
  type CatalogMonitor,
} from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import { isObjectName } from '../../object-name.ts';
import { presentAll } from '../cronjobs/list.ts';
import type { RouteDeps } from '../deps.ts';
import { presentMonitorDetail } from './present.ts';

/** CronJobs that the page of a monitor shows at once; all of them are in the list of CronJobs. */
const shownCronJobs = 100;

/** One monitor with what it selects, worst first. Throws NOT_FOUND. */
export async function readMonitorDetail(
  deps: RouteDeps,
  ref: Ref,
  readable: readonly string[],
): Promise<MonitorDetail> {
  const { store } = deps;
  const path = `${ref.namespace}/${ref.name}`;
  if (!isObjectName(ref.namespace) || !isObjectName(ref.name)) throw notFound('CronJobMonitor', path, 'neverSeen');
  const { monitor, wasDeleted } = await findMonitor(store, ref);
  if (!monitor) throw notFound('CronJobMonitor', path, wasDeleted ? 'deleted' : 'neverSeen');
  const [counts, alerts, channels, cronJobs] = await Promise.all([
    countTargets(store, readable),
    countAlertsOfMonitors(store, readable),
    listChannels(store),
    readWorstCronJobs(deps, monitor, readable),
  ]);
  const ofThis = counts.get(monitor.id);
  return presentMonitorDetail(
    { monitor, counts: ofThis, activeAlerts: alerts.get(monitor.id) ?? 0 },
    { channels, cronJobs, cronJobsOmitted: Math.max(0, (ofThis?.cronJobs ?? 0) - cronJobs.length) },
  );
}

async function readWorstCronJobs(
  deps: RouteDeps,
  { namespace, name }: CatalogMonitor,
  readable: readonly string[],
): Promise<MonitorCronJob[]> {
  const cronJobs = await listCronJobs(
    deps.store,
    { monitor: { namespace, name }, namespaces: readable },
    { sort: { key: 'status', descending: false }, page: { limit: shownCronJobs, offset: 0 } },
  );
  const items = await presentAll(deps, cronJobs, 0);
  return items.map((item) => ({
    namespace: item.namespace,
    name: item.name,
    status: item.status,
    verdict: item.verdict,
    suspended: item.suspended,
    successRate: item.successRate,
    activeAlerts: item.activeAlerts,
    nextRun: item.nextRun,
  }));
}
