import { Alert, AlertHistory, AlertList } from '@cronjob-monitor/shared/contract';
import { exportsAreWhole, offsetNeedsLimit } from '../../middleware/pagination.ts';
import { route } from '../route.ts';
import { answerExport, columnsOf, exportable } from '../export/answer.ts';
import {
  alertsQuery,
  exportEndedAlerts,
  exportOpenAlerts,
  findEndedAlerts,
  findOpenAlerts,
  historyQuery,
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
