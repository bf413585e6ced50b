import {
  alertTypeTable,
  healthStates,
  monitorPhases,
  severities,
  type Alert,
  type AlertType,
  type Channel,
  type CronJobSortKey,
  type Incident,
  type Monitor,
  type Silence,
  type SilenceSortKey,
  type alertHistorySortKeys,
  type alertSortKeys,
  type channelSortKeys,
  type monitorSortKeys,
} from '@cronjob-monitor/shared/contract';
import type { RankedCronJob } from '@cronjob-monitor/shared/store';
import { orderBy, type Sort } from '../../middleware/parameters.ts';

/** How rows of several clusters stand in one list. Each cluster's own database has ordered its rows by the same keys. */
export interface ListOrder {
  compare(query: Readonly<Record<string, unknown>>): (a: object, b: object) => number;
  /** Rows of a page where the query names none; absent: all. */
  readonly defaultLimit?: number;
}

type Rank = string | number | null;
type Keys<Key extends string, Item> = Readonly<Record<Key, (item: Item) => Rank>>;

const valueOf = ({ value }: RankedCronJob): Rank => value ?? null;
/** As each database has ordered them: a CronJob is read in full only once it is known to be on the page. */
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

const alerts: Keys<(typeof alertSortKeys)[number] | (typeof alertHistorySortKeys)[number], Alert> = {
  severity: ({ severity }) => severities.indexOf(severity),
  since: ({ since }) => since,
  type: ({ type }) => type,
  namespace: ({ cronjob }) => cronjob.namespace,
  cronjob: ({ cronjob }) => cronjob.name,
  endedAt: ({ endedAt }) => endedAt,
};

const lastRank = 1 + Math.max(...Object.values(alertTypeTable).map(({ rank }) => rank));

/** Of the worst of them; after all others without an alert. */
export function rankOfTypes(alerts: readonly { readonly type: AlertType }[]): number {
  return Math.min(lastRank, ...alerts.map(({ type }) => alertTypeTable[type].rank));
}

/** As the incidents of one cluster stand: what is held back comes last, then what is wrong decides, then the older comes first. */
function tiesOfIncident({ alerts: open, verdict }: Incident): (string | number)[] {
  const told = open.filter(({ state }) => state !== 'pending');
  const isHeld = ({ state, verdict: { holds } }: Incident['alerts'][number]): boolean =>
    state === 'suppressed' || holds.some(({ kind, by }) => kind === 'silenced' && by !== null);
  const judged = told.length > 0 ? told : open;
  return [Number(judged.length > 0 && judged.every(isHeld)), rankOfTypes(told), verdict.since ?? ''];
}

const incidents: Keys<'state', Incident> = { state: ({ verdict }) => healthStates.indexOf(verdict.state) };

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
  ['listAlerts', inOrder(alerts, ({ since }) => [since])],
  ['listAlertHistory', { ...inOrder(alerts, ({ since }) => [since]), defaultLimit: 50 }],
  ['listIncidents', { ...inOrder(incidents, tiesOfIncident, 'state'), defaultLimit: 50 }],
  ['listSilences', inOrder(silences, ({ id }) => [id ?? ''])],
  ['listMonitors', inOrder(monitorKeys, ({ namespace, name }) => [namespace, name])],
  ['listChannels', inOrder(channelKeys, ({ name }) => [name])],
]);

/** `always`: the key of a list that takes no order. */
function inOrder<Key extends string, Item extends object>(
  keys: Keys<Key, Item>,
  tiesOf: (item: Item) => readonly (string | number)[],
  always?: Key,
): ListOrder {
  return {
    compare(query) {
      const sort = always === undefined ? (query['sort'] as Sort<Key>) : { key: always, descending: false };
      // Rows are of the shape that the operation's list has.
      return orderBy(keys, sort, tiesOf) as (a: object, b: object) => number;
    },
  };
}
