import { Stats } from '@cronjob-monitor/shared/contract';
import {
  countCronJobs,
  countFleet,
  countOpenAlerts,
  findLiveLeader,
  listChannels,
  listMonitors,
} from '@cronjob-monitor/shared/store';
import { dayMs } from '@cronjob-monitor/shared/domain';
import type { ApiContext } from '../../context.ts';
import { readLateAfterMs } from '../known-cron-job.ts';
import { cutToMinute } from '../../windows.ts';
import { toPercent, toWireInstantOrNull } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { usualKinds } from '../find-outlines.ts';
import { namespaces } from '../../middleware/parameters.ts';
import { callerOf, namespacesOf } from '../../middleware/guard.ts';

/** The fleet in figures; a CronJob that two monitors select counts once. */
export const statsRoutes = [
  route(
    {
      method: 'GET',
      path: '/stats',
      tag: 'Overview',
      id: 'getStats',
      says: 'Counts of the fleet',
      ability: 'read',
      query: { namespace: namespaces },
      answer: Stats,
    },
    ({ deps, ctx, query }) => readStatsFor(deps, ctx, query.namespace),
  ),
];

/** As the caller of a request may know them; `namespaces` are those that it may read, empty for all. */
export async function readStatsFor(deps: RouteDeps, ctx: ApiContext, namespaces: readonly string[]): Promise<Stats> {
  // To see CronJobs of a namespace is not to see its monitors.
  const monitored = await namespacesOf(deps.authentication, ctx, 'readMonitors', namespaces);
  const countsChannels = await deps.authentication.may(callerOf(ctx), 'readChannels', {});
  return deps.answers.read(['stats', namespaces, monitored, countsChannels], () =>
    readStats(deps, { namespaces, monitored, countsChannels }),
  );
}

async function readStats(
  deps: RouteDeps,
  {
    namespaces,
    monitored,
    countsChannels,
  }: {
    readonly namespaces: readonly string[];
    readonly monitored: readonly string[];
    readonly countsChannels: boolean;
  },
): Promise<Stats> {
  const { store, clock, settings } = deps;
  const from = cutToMinute(clock.now()) - dayMs;
  const [monitors, cronJobs, fleet, alerts, leader, channels] = await Promise.all([
    listMonitors(store),
    countCronJobs(store, { namespaces, kinds: usualKinds }),
    readLateAfterMs(store).then((lateAfterMs) => countFleet(store, { from, namespaces, lateAfterMs })),
    countOpenAlerts(store, namespaces),
    findLiveLeader(store, store.now(), settings.leaseMs),
    countsChannels ? listChannels(store) : [],
  ]);
  const isAsked = ({ namespace }: { namespace: string }): boolean =>
    monitored.length === 0 || monitored.includes(namespace);
  return {
    totalMonitors: monitors.filter(isAsked).length,
    totalCronJobs: cronJobs.total,
    summary: cronJobs.summary,
    states: cronJobs.states,
    channels: { total: channels.length, ready: channels.filter(({ ready }) => ready).length },
    activeAlerts: alerts.active,
    executionsRecorded24h: fleet.ended,
    pendingAlerts: alerts.pending,
    suppressedAlerts: alerts.suppressed,
    acknowledgedAlerts: alerts.acknowledged,
    successRate24h: toPercent(fleet.success, fleet.success + fleet.failed),
    slots24h: fleet.slots,
    lastEvaluation: toWireInstantOrNull(leader?.evaluatedAt),
  };
}
