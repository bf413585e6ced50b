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
  countAlerts,
  listAlerts,
  type AlertFilter,
  type AlertSort,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import {
  exportsAreWhole,
  offsetNeedsLimit,
  pageOf,
  pageOnWish,
  toPagination,
  type PageRequest,
} from '../../middleware/pagination.ts';
import { readWindow } from '../../windows.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { answerExport, exportable, exportFormat } from '../export/answer.ts';
import { columnsOf } from '../export/columns.ts';
import { allIncidents, findIncidents, wrongStates } from '../incidents/read.ts';
import { presentAlerts } from './present.ts';
import {
  flag,
  instant,
  names,
  namespaces,
  objectIds,
  oneMonitor,
  paging,
  sort,
  words,
} from '../../middleware/parameters.ts';

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

const historyQuery = {
  ...ofAlerts,
  state: words('States; resolved and expired without it.', closedAlertStates),
  since: instant('Inclusive; by the end of the alert.'),
  until: instant('Exclusive; by the end of the alert.'),
  sort: sort(alertHistorySortKeys, { key: 'endedAt', descending: true }),
  ...paging,
  format: exportFormat,
};

const defaultHistoryLimit = 50;

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
    async ({ deps, ctx, query: { state, sort, acknowledged, limit, offset, format, ...about } }) => {
      const filter = { ...toFilter(about), states: state.length > 0 ? state : (['active'] as const), acknowledged };
      const { cronjobState, owner, held, namespace, cronjob, monitor } = about;
      const ofIncidents = { ...allIncidents, state: cronjobState, owner, held, namespace, cronjob, monitor };
      const isOfSome = cronjobState.length + owner.length > 0 || held !== undefined;
      const findWithin = async (): Promise<ReadonlySet<string> | undefined> => {
        if (!isOfSome) return undefined;
        const found = await findIncidents(deps, ofIncidents);
        return new Set(found.flatMap(({ alerts, waiting }) => [...alerts, ...waiting].map(({ id }) => id)));
      };
      if (format) {
        const batches = readInBatches(deps, filter, sort, await findWithin());
        return answerExport(deps, ctx, format, { name: 'alerts', columns: columnsOf(Alert), batches });
      }
      const page = pageOnWish({ limit, offset });
      return deps.answers.read(['alerts', filter, isOfSome && ofIncidents, sort, page], async () => {
        const within = await findWithin();
        const { items, bySeverity, total } = within
          ? await readAlertsWithin(deps, filter, { sort, page, within })
          : await readAlerts(deps, filter, { sort, page });
        return {
          items,
          total,
          bySeverity,
          ...(page ? { pagination: toPagination(page, total) } : {}),
        };
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
    async ({ deps, ctx, query: { state, sort, since, until, limit, offset, format, ...about } }) => {
      if (since !== undefined) readWindow({ since, until }, { since });
      const states = state.length > 0 ? state : (['resolved', 'expired'] as const);
      const filter = { ...toFilter(about), states, endedSince: since, endedUntil: until };
      if (format) {
        const batches = readInBatches(deps, filter, sort);
        return answerExport(deps, ctx, format, { name: 'alerts-history', columns: columnsOf(Alert), batches });
      }
      const page = pageOf({ limit, offset }, defaultHistoryLimit);
      const { items, total } = await readAlerts(deps, filter, { sort, page });
      return { items, pagination: toPagination(page, total) };
    },
  ),
];

function toFilter(about: {
  readonly id: readonly string[];
  readonly severity: AlertFilter['severities'];
  readonly type: AlertFilter['types'];
  readonly cause: AlertFilter['causes'];
  readonly namespace: readonly string[];
  readonly cronjob: readonly string[];
  readonly monitor: AlertFilter['monitor'];
}): Omit<AlertFilter, 'states'> {
  const { id, severity, type, cause, namespace, cronjob, monitor } = about;
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

interface Order {
  readonly sort: { readonly key: AlertSort; readonly descending: boolean };
  readonly page: PageRequest | undefined;
}

type Read = Pick<AlertList, 'items' | 'total' | 'bySeverity'>;

async function readAlerts(deps: RouteDeps, filter: AlertFilter, order: Order): Promise<Read> {
  const { store } = deps;
  const [alerts, bySeverity] = await Promise.all([listAlerts(store, filter, order), countAlerts(store, filter)]);
  const items = await presentAlerts(deps, alerts);
  return { items, bySeverity, total: bySeverity.critical + bySeverity.warning };
}

/** Those of CronJobs that were found by more than the database is asked for: all open ones are looked through. */
async function readAlertsWithin(
  deps: RouteDeps,
  filter: AlertFilter,
  { sort, page, within }: Order & { readonly within: ReadonlySet<string> },
): Promise<Read> {
  const alerts = (await listAlerts(deps.store, filter, { sort })).filter(({ id }) => within.has(id));
  const critical = alerts.filter(({ severity }) => severity === 'critical').length;
  const items = await presentAlerts(deps, page ? alerts.slice(page.offset, page.offset + page.limit) : alerts);
  return { items, total: alerts.length, bySeverity: { critical, warning: alerts.length - critical } };
}

/** Alerts of one batch of an export. */
const batchSize = 200;

async function* readInBatches(
  deps: RouteDeps,
  filter: AlertFilter,
  sort: Order['sort'],
  /** Only these; undefined: all that the filter lets through. */
  within?: ReadonlySet<string>,
): AsyncGenerator<readonly Alert[], void, undefined> {
  const page = { limit: batchSize, offset: 0 };
  let after: StoredAlert | undefined;
  do {
    // Each batch begins where the one before has ended.
    const alerts = await listAlerts(deps.store, filter, { sort, page, after });
    const wanted = within ? alerts.filter(({ id }) => within.has(id)) : alerts;
    yield await presentAlerts(deps, wanted);
    after = alerts.length < batchSize ? undefined : alerts.at(-1);
  } while (after);
}
