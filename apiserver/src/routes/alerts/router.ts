import type { Alert, AlertHistory, AlertList } from '@cronjob-monitor/shared/contract';
import {
  countAlerts,
  listAlerts,
  listTold,
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
import { readQuery } from '../../middleware/validate.ts';
import { readWindow } from '../../windows.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { answerExport, exportable } from '../export/answer.ts';
import { alertColumns } from '../export/columns.ts';
import { gatherWhy } from '../verdicts/why.ts';
import { readSurroundings } from '../verdicts/surroundings.ts';
import { presentAlert } from './present.ts';
import { alertsQuery, defaultHistoryLimit, historyQuery } from './query.ts';

/**
 * @openapi
 * /alerts:
 *   get:
 *     tags: [Alerts]
 *     operationId: listAlerts
 *     summary: Open alerts
 *     x-ability: read
 *     x-query: [severities, alertTypes, causes, namespaces, cronJobs, monitor, openStates, acknowledged, alertSort, limit, offset, export]
 *     x-answers: { 200: AlertList }
 * /alerts/history:
 *   get:
 *     tags: [Alerts]
 *     operationId: listAlertHistory
 *     summary: Alerts that have ended
 *     x-ability: read
 *     x-query: [severities, alertTypes, causes, namespaces, cronJobs, monitor, closedStates, endedSince, endedUntil, historySort, limit, offset, export]
 *     x-answers: { 200: AlertHistory }
 */

/** The alerts that are open, and those of history. */
export function alertsRouter(deps: RouteDeps): ApiRouter {
  const { guard } = deps;
  return createRouter()
    .get('/alerts', guard({ ability: 'read', ...exportable }), async (ctx) => {
      const query = readQuery(ctx, alertsQuery, offsetNeedsLimit, exportsAreWhole);
      const { state, sort, acknowledged, limit, offset, format, ...about } = query;
      const filter = { ...toFilter(about), states: state.length > 0 ? state : (['active'] as const), acknowledged };
      if (format) {
        const batches = readInBatches(deps, filter, sort);
        await answerExport(deps, ctx, format, { name: 'alerts', columns: alertColumns, batches });
        return;
      }
      const page = pageOnWish({ limit, offset });
      ctx.body = await deps.answers.read(['alerts', filter, sort, page], async () => {
        const { items, bySeverity, total } = await readAlerts(deps, filter, { sort, page });
        return {
          items,
          total,
          bySeverity,
          ...(page ? { pagination: toPagination(page, total) } : {}),
        } satisfies AlertList;
      });
    })
    .get('/alerts/history', guard({ ability: 'read', ...exportable }), async (ctx) => {
      const query = readQuery(ctx, historyQuery, exportsAreWhole);
      const { state, sort, since, until, limit, offset, format, ...about } = query;
      if (since !== undefined) readWindow({ since, until }, { since });
      const states = state.length > 0 ? state : (['resolved', 'expired'] as const);
      const filter = { ...toFilter(about), states, endedSince: since, endedUntil: until };
      if (format) {
        const batches = readInBatches(deps, filter, sort);
        await answerExport(deps, ctx, format, { name: 'alerts-history', columns: alertColumns, batches });
        return;
      }
      const page = pageOf({ limit, offset }, defaultHistoryLimit);
      const { items, total } = await readAlerts(deps, filter, { sort, page });
      const body: AlertHistory = { items, pagination: toPagination(page, total) };
      ctx.body = body;
    });
}

function toFilter(about: {
  readonly severity: AlertFilter['severities'];
  readonly type: AlertFilter['types'];
  readonly cause: AlertFilter['causes'];
  readonly namespace: readonly string[];
  readonly cronjob: readonly string[];
  readonly monitor: AlertFilter['monitor'];
}): Omit<AlertFilter, 'states'> {
  const { severity, type, cause, namespace, cronjob, monitor } = about;
  return { severities: severity, types: type, causes: cause, namespaces: namespace, cronJobs: cronjob, monitor };
}

async function readAlerts(
  deps: RouteDeps,
  filter: AlertFilter,
  order: {
    readonly sort: { readonly key: AlertSort; readonly descending: boolean };
    readonly page: PageRequest | undefined;
  },
): Promise<{ readonly items: readonly Alert[]; readonly total: number; readonly bySeverity: AlertList['bySeverity'] }> {
  const { store } = deps;
  const [alerts, bySeverity] = await Promise.all([listAlerts(store, filter, order), countAlerts(store, filter)]);
  const items = await presentAlerts(deps, alerts);
  return { items, bySeverity, total: bySeverity.critical + bySeverity.warning };
}

/** Alerts of one batch of an export. */
const batchSize = 200;

async function* readInBatches(
  deps: RouteDeps,
  filter: AlertFilter,
  sort: { readonly key: AlertSort; readonly descending: boolean },
): AsyncGenerator<readonly Alert[], void, undefined> {
  const page = { limit: batchSize, offset: 0 };
  let after: StoredAlert | undefined;
  do {
    // Each batch begins where the one before has ended.
    const alerts = await listAlerts(deps.store, filter, { sort, page, after });
    yield await presentAlerts(deps, alerts);
    after = alerts.length < batchSize ? undefined : alerts.at(-1);
  } while (after);
}

/** Alerts with what was told of them, however many they are, in a handful of questions. */
export async function presentAlerts(
  deps: Pick<RouteDeps, 'store' | 'settings'>,
  alerts: readonly StoredAlert[],
): Promise<Alert[]> {
  const { store } = deps;
  const surroundings = await readSurroundings(deps);
  const why = await gatherWhy(deps, { alerts }, surroundings);
  const told = await listTold(
    store,
    alerts.map(({ id }) => id),
  );
  return alerts.map((alert) => presentAlert(alert, told.get(alert.id), surroundings, why));
}
