import { Alert, AlertHistory, AlertList } from '@cronjob-monitor/shared/contract';
import { listAlerts, type StoredAlert } from '@cronjob-monitor/shared/store';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { answerExport, exportable } from '../export/answer.ts';
import { columnsOf } from '../export/columns.ts';
import {
  alertsQuery,
  endedAlertsAsked,
  findEndedAlerts,
  findOpenAlerts,
  historyQuery,
  openAlertsAsked,
  type AlertsAsked,
} from './find.ts';
import { presentAlerts } from './present.ts';

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
        const batches = readInBatches(deps, await openAlertsAsked(deps, query));
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
        const batches = readInBatches(deps, endedAlertsAsked(query));
        return answerExport(deps, ctx, query.format, { name: 'alerts-history', columns: columnsOf(Alert), batches });
      }
      const { found, ...counts } = await findEndedAlerts(deps, query);
      return { items: await presentAlerts(deps, found), ...counts };
    },
  ),
];

/** Alerts of one batch of an export. */
const batchSize = 200;

async function* readInBatches(
  deps: RouteDeps,
  { filter, sort, within }: AlertsAsked,
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
