import {
  Alert,
  AlertHistory,
  alertHistorySortKeys,
  AlertList,
  alertSortKeys,
  alertTypes,
  closedAlertStates,
  failureCauses,
  openAlertStates,
  severities,
} from '@cronjob-monitor/shared/contract';
import {
  exportsAreWhole,
  offsetNeedsLimit,
  pageOf,
  pageOnWish,
  toPagination,
  usualPageSize,
} from '../../middleware/pagination.ts';
import { route } from '../route.ts';
import { answerExport, columnsOf, eachBatch, exportable, exportFormat } from '../export/answer.ts';
import { presentAlerts } from './present.ts';
import {
  type AlertFilter,
  type AlertSort,
  countAlerts,
  listAlerts,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import {
  flag,
  instant,
  names,
  namespaces,
  objectIds,
  oneMonitor,
  paging,
  sort,
  type Sort,
  words,
} from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import { readWindow } from '../../windows.ts';
import type { RouteDeps } from '../deps.ts';
import { allIncidents, findIncidents, wrongStates } from '../incidents/read.ts';

const ofAlerts = {
  id: objectIds('Ids of alerts.'),
  severity: words('Severities.', severities),
  type: words('Types.', alertTypes),
  cause: words('On whose side it is.', failureCauses),
  namespace: namespaces,
  cronjob: names('Names of CronJobs.'),
  monitor: oneMonitor,
};

const alertsQuery = {
  ...ofAlerts,
  state: words('States; active without it.', openAlertStates),
  acknowledged: flag('Whether a person has acknowledged it.'),
  cronjobState: words('States of the verdict of its CronJob.', wrongStates),
  owner: names('Owners of its CronJob, as the annotation says.'),
  held: flag('True: all alerts of its CronJob are held back; false: one at least is not.'),
  sort: sort(alertSortKeys, { key: 'severity', descending: false }, 'severity, then the oldest'),
  ...paging,
  format: exportFormat,
};
type AlertsQuery = Values<typeof alertsQuery>;

const historyQuery = {
  ...ofAlerts,
  state: words('States; resolved and expired without it.', closedAlertStates),
  since: instant('Inclusive; by the end of the alert.'),
  until: instant('Exclusive; by the end of the alert.'),
  sort: sort(alertHistorySortKeys, { key: 'endedAt', descending: true }),
  ...paging,
  format: exportFormat,
};
type HistoryQuery = Values<typeof historyQuery>;

/** A list before its alerts are presented: what is on its page, and the counts. */
type Found<List> = Omit<List, 'items'> & { readonly found: readonly StoredAlert[] };

/** Which alerts a list or an export asks for, and in which order. */
interface AlertsAsked {
  readonly filter: AlertFilter;
  readonly sort: Sort<AlertSort>;
  /** Only these; undefined: all that the filter lets through. */
  readonly within?: ReadonlySet<string> | undefined;
}

async function openAlertsAsked(deps: RouteDeps, query: AlertsQuery): Promise<AlertsAsked> {
  const { state, acknowledged, sort } = query;
  const filter = { ...toFilter(query), states: state.length > 0 ? state : (['active'] as const), acknowledged };
  return { filter, sort, within: await findWithin(deps, query) };
}

/** Throws INVALID_REQUEST for a time that ends before it begins. */
function endedAlertsAsked(query: HistoryQuery): AlertsAsked {
  const { state, since, until, sort } = query;
  if (since !== undefined) readWindow({ since, until }, { since });
  const states = state.length > 0 ? state : (['resolved', 'expired'] as const);
  return { filter: { ...toFilter(query), states, endedSince: since, endedUntil: until }, sort };
}

export async function findOpenAlerts(deps: RouteDeps, query: AlertsQuery): Promise<Found<AlertList>> {
  const { store } = deps;
  const { filter, sort, within } = await openAlertsAsked(deps, query);
  const page = pageOnWish(query);
  const told = (total: number): Pick<AlertList, 'total' | 'pagination'> => ({
    total,
    ...(page ? { pagination: toPagination(page, total) } : {}),
  });
  if (!within) {
    const [found, bySeverity] = await Promise.all([
      listAlerts(store, filter, { sort, page }),
      countAlerts(store, filter),
    ]);
    return { found, bySeverity, ...told(bySeverity.critical + bySeverity.warning) };
  }
  // Those of CronJobs that were found by more than the database is asked for: all open ones are looked through.
  const alerts = (await listAlerts(store, filter, { sort })).filter(({ id }) => within.has(id));
  const critical = alerts.filter(({ severity }) => severity === 'critical').length;
  const found = page ? alerts.slice(page.offset, page.offset + page.limit) : alerts;
  return { found, bySeverity: { critical, warning: alerts.length - critical }, ...told(alerts.length) };
}

export async function findEndedAlerts({ store }: RouteDeps, query: HistoryQuery): Promise<Found<AlertHistory>> {
  const { filter, sort } = endedAlertsAsked(query);
  const page = pageOf(query, usualPageSize);
  const [found, { critical, warning }] = await Promise.all([
    listAlerts(store, filter, { sort, page }),
    countAlerts(store, filter),
  ]);
  return { found, pagination: toPagination(page, critical + warning) };
}

async function* exportOpenAlerts(deps: RouteDeps, query: AlertsQuery): AsyncGenerator<readonly Alert[], void> {
  yield* exportAlerts(deps, await openAlertsAsked(deps, query));
}

function exportEndedAlerts(deps: RouteDeps, query: HistoryQuery): AsyncGenerator<readonly Alert[], void> {
  return exportAlerts(deps, endedAlertsAsked(query));
}

/** Alerts of one batch of an export. */
const batchSize = 200;

function exportAlerts(
  deps: RouteDeps,
  { filter, sort, within }: AlertsAsked,
): AsyncGenerator<readonly Alert[], void, undefined> {
  return eachBatch(
    batchSize,
    (page, after: StoredAlert | undefined) => listAlerts(deps.store, filter, { sort, page, after }),
    (alerts) => presentAlerts(deps, within ? alerts.filter(({ id }) => within.has(id)) : alerts),
  );
}

function toFilter(query: AlertsQuery | HistoryQuery): Omit<AlertFilter, 'states'> {
  const { id, severity, type, cause, namespace, cronjob, monitor } = query;
  return {
    ids: id,
    severities: severity,
    types: type,
    causes: cause,
    namespaces: namespace,
    cronJobs: cronjob,
    monitor,
  };
}

/** Alerts of the incidents that the query asks for by what only an incident knows; undefined: it asks for nothing of that. */
async function findWithin(deps: RouteDeps, query: AlertsQuery): Promise<ReadonlySet<string> | undefined> {
  const { cronjobState, owner, held, namespace, cronjob, monitor } = query;
  if (cronjobState.length + owner.length === 0 && held === undefined) return undefined;
  const asked = { ...allIncidents, state: cronjobState, owner, held, namespace, cronjob, monitor };
  const found = await findIncidents(deps, asked);
  return new Set(found.flatMap(({ alerts, waiting }) => [...alerts, ...waiting].map(({ id }) => id)));
}

/** The alerts that are open, and those of history. */
export const alertsRoutes = [
  route(
    {
      method: 'GET',
      path: '/alerts',
      tag: 'Alerts',
      id: 'listAlerts',
      says: 'Open alerts',
      ability: 'read',
      ...exportable,
      query: alertsQuery,
      rules: [offsetNeedsLimit, exportsAreWhole],
      answer: AlertList,
    },
    async ({ deps, ctx, query }) => {
      if (query.format) {
        const batches = exportOpenAlerts(deps, query);
        return answerExport(deps, ctx, query.format, { name: 'alerts', columns: columnsOf(Alert), batches });
      }
      return deps.answers.read(['alerts', query], async () => {
        const { found, ...counts } = await findOpenAlerts(deps, query);
        return { items: await presentAlerts(deps, found), ...counts };
      });
    },
  ),
  route(
    {
      method: 'GET',
      path: '/alerts/history',
      tag: 'Alerts',
      id: 'listAlertHistory',
      says: 'Alerts that have ended',
      ability: 'read',
      ...exportable,
      query: historyQuery,
      rules: [exportsAreWhole],
      answer: AlertHistory,
    },
    async ({ deps, ctx, query }) => {
      if (query.format) {
        const batches = exportEndedAlerts(deps, query);
        return answerExport(deps, ctx, query.format, { name: 'alerts-history', columns: columnsOf(Alert), batches });
      }
      const { found, ...counts } = await findEndedAlerts(deps, query);
      return { items: await presentAlerts(deps, found), ...counts };
    },
  ),
];
