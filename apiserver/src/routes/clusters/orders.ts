import {
  monitorPhases,
  severities,
  type Channel,
  type CronJobSortKey,
  type Monitor,
  type Silence,
  type SilenceSortKey,
  type channelSortKeys,
  type monitorSortKeys,
} from '@cronjob-monitor/shared/contract';
import type { AlertSort, RankedCronJob, StoredAlert } from '@cronjob-monitor/shared/store';
import { orderBy, type Sort } from '../../middleware/parameters.ts';
import { usualPageSize } from '../../middleware/pagination.ts';
import { incidentOrder } from '../incidents/read.ts';

/** How rows of several clusters stand in one list. Each cluster's own database has ordered its rows by the same keys. */
export interface ListOrder {
  compare(query: Readonly<Record<string, unknown>>): (a: object, b: object) => number;
  /** Rows of a page where the query names none; absent: all. */
  readonly defaultLimit?: number;
}

type Rank = string | number | null;
type Keys<Key extends string, Item> = Readonly<Record<Key, (item: Item) => Rank>>;

/** CronJobs, alerts and incidents are compared as they were found: each is read in full only once it is known to be on the page. */
const valueOf = ({ value }: RankedCronJob): Rank => value ?? null;
const cronJobs: Keys<CronJobSortKey, RankedCronJob> = {
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
  status: valueOf,
  successRate: valueOf,
  verdict: valueOf,
  lastRun: valueOf,
  duration: valueOf,
  lastSuccess: valueOf,
  nextRun: valueOf,
  activeAlerts: valueOf,
};

const alerts: Keys<AlertSort, StoredAlert> = {
  severity: ({ severity }) => severities.indexOf(severity),
  since: ({ sinceAt }) => sinceAt,
  type: ({ type }) => type,
  namespace: ({ cronJob }) => cronJob.namespace,
  cronjob: ({ cronJob }) => cronJob.name,
  endedAt: ({ endedAt }) => endedAt ?? null,
};

const silences: Keys<SilenceSortKey, Silence> = {
  endsAt: ({ endsAt }) => endsAt,
  startsAt: ({ startsAt }) => startsAt,
  createdAt: ({ createdAt }) => createdAt,
};

/** What monitors are ordered by, also within one cluster. */
export const monitorKeys: Keys<(typeof monitorSortKeys)[number], Monitor> = {
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
  phase: ({ phase }) => monitorPhases.indexOf(phase),
  cronJobCount: ({ cronJobCount }) => cronJobCount,
  activeAlerts: ({ activeAlerts }) => activeAlerts,
  lastReconcile: ({ lastReconcile }) => lastReconcile,
};

/** What channels are ordered by, also within one cluster. */
export const channelKeys: Keys<(typeof channelSortKeys)[number], Channel> = {
  name: ({ name }) => name,
  type: ({ type }) => type,
  ready: ({ ready }) => Number(ready),
  lastAlert: ({ stats }) => stats.lastAlertTime,
  consecutiveFailures: ({ stats }) => stats.consecutiveFailures,
};

/** The lists that have the rows of all clusters, by the id of their operation. */
export const ordersOfLists: ReadonlyMap<string, ListOrder> = new Map([
  ['listCronJobs', inOrder(cronJobs, ({ namespace, name }) => [namespace, name])],
  ['listAlerts', inOrder(alerts, ({ sinceAt }) => [sinceAt])],
  ['listAlertHistory', { ...inOrder(alerts, ({ sinceAt }) => [sinceAt]), defaultLimit: usualPageSize }],
  ['listIncidents', { compare: () => incidentOrder as (a: object, b: object) => number, defaultLimit: usualPageSize }],
  ['listSilences', inOrder(silences, ({ id }) => [id ?? ''])],
  ['listMonitors', inOrder(monitorKeys, ({ namespace, name }) => [namespace, name])],
  ['listChannels', inOrder(channelKeys, ({ name }) => [name])],
]);

function inOrder<Key extends string, Item extends object>(
  keys: Keys<Key, Item>,
  tiesOf: (item: Item) => readonly (string | number)[],
): ListOrder {
  return {
    compare(query) {
      const sort = query['sort'] as Sort<Key>;
      // Rows are of the shape that the operation's list has.
      return orderBy(keys, sort, tiesOf) as (a: object, b: object) => number;
    },
  };
}
