import {
  alertStates,
  alertTypes,
  type AlertRoute,
  type AlertType,
  type CronJobRoutes,
} from '@cronjob-monitor/shared/contract';
import {
  isGroupName,
  outcomeOf,
  routeOf,
  type JudgedRun,
  type LastAlert,
  type ReachFacts,
  type RouteMoment,
  type RouteRules,
} from '@cronjob-monitor/shared/domain';
import {
  findLiveLeader,
  findUnwatched,
  listAlerts,
  listChannelHolds,
  listExecutions,
  listMonitorsOf,
  listParentAlerts,
  listRecentSlots,
  listSilences,
  type CatalogCronJob,
  type Store,
  type StoredAlert,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { ApiError } from '../../errors.ts';
import { readQuery } from '../../middleware/validate.ts';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { answerExport, exportable, isExport } from '../export/answer.ts';
import { coverageColumns } from '../export/columns.ts';
import { getSelectedCronJob } from '../known-cron-job.ts';
import { acceptedSince, readCoverageInBatches, readCoverageList } from './list.ts';
import { coverageQuery, coverageRules, routeQuery, withDefaults } from './query.ts';

/**
 * @openapi
 * /coverage:
 *   get:
 *     tags: [Coverage]
 *     operationId: listCoverage
 *     summary: Of which CronJobs a failure would be heard, and where not, why
 *     x-ability: read
 *     x-query: [namespaces, coverageStates, monitor, search, coverageTypes, coverageDays, coverageProved, coverageSort, limit, offset, export]
 *     x-answers: { 200: CoverageList }
 * /cronjobs/{namespace}/{name}/route:
 *   get:
 *     tags: [Coverage]
 *     operationId: getRoute
 *     summary: What an alert of a CronJob would do now, for each monitor and type
 *     x-ability: read
 *     x-query: [alertTypes, coverageDays, coverageProved]
 *     x-answers: { 200: CronJobRoutes }
 *     x-refusals: [404]
 */

/** Who would hear: of one CronJob, and of all. */
export function coverageRouter(deps: RouteDeps): ApiRouter {
  const { guard, store } = deps;
  return createRouter()
    .get(
      '/coverage',
      guard({ ability: 'read', ...exportable, expensive: (ctx) => (isExport(ctx) ? 2 : 1) }),
      async (ctx) => {
        const query = withDefaults(readQuery(ctx, coverageQuery, ...coverageRules));
        if (query.format) {
          const batches = readCoverageInBatches(deps, query);
          await answerExport(deps, ctx, query.format, { name: 'coverage', columns: coverageColumns, batches });
          return;
        }
        ctx.body = await deps.answers.read(['coverage', query], () => readCoverageList(deps, query));
      },
    )
    .get('/cronjobs/:namespace/:name/route', guard({ ability: 'read' }), async (ctx) => {
      const { type, days = 30, proved: byDrills = false } = readQuery(ctx, routeQuery);
      const cronJob = await getSelectedCronJob(store, ctx.params).catch(async (error: unknown) => {
        const isMissing = error instanceof ApiError && error.code === 'NOT_FOUND';
        if (isMissing && (await isUnwatched(store, ctx.params))) return undefined;
        throw error;
      });
      const routes = cronJob ? await readRoutes(deps, cronJob, { types: typesOf(type), days, byDrills }) : [];
      const leader = await findLiveLeader(store, store.now(), deps.settings.leaseMs);
      const { namespace = '', name = '' } = ctx.params;
      ctx.body = { namespace, name, leader: leader !== undefined, routes } satisfies CronJobRoutes;
    });
}

/** It is there, and no monitor selects it. */
async function isUnwatched(store: Store, { namespace, name }: Readonly<Record<string, string>>): Promise<boolean> {
  return (await findUnwatched(store)).names.includes(`${namespace}/${name}`);
}

/** Each type once, in the order of `alertTypes`; all where none is asked for. */
function typesOf(asked: readonly AlertType[]): readonly AlertType[] {
  return asked.length === 0 ? alertTypes : alertTypes.filter((type) => asked.includes(type));
}

/** Runs and expected runs that the thresholds of monitors are asked with. */
const mostLooked = 100;

async function readRoutes(
  { store, actions }: RouteDeps,
  cronJob: CatalogCronJob,
  {
    types,
    days,
    byDrills,
  }: { readonly types: readonly AlertType[]; readonly days: number; readonly byDrills: boolean },
): Promise<AlertRoute[]> {
  const now = store.now();
  const ids = [cronJob.id];
  const ref = `${cronJob.namespace}/${cronJob.name}`;
  const [monitors, rulesOf, channels, silences, alerts, runs, slots, parents] = await Promise.all([
    listMonitorsOf(store, ids),
    actions.readRouteRules(ids),
    listChannelHolds(store),
    listSilences(store, now),
    listAlerts(
      store,
      { states: alertStates, cronJobIds: ids, types },
      { sort: { key: 'since', descending: true }, page: { limit: mostLooked, offset: 0 } },
    ),
    listExecutions(
      store,
      { cronJobIds: ids, statuses: ['success', 'failed'] },
      { page: { limit: mostLooked, offset: 0 } },
    ),
    listRecentSlots(store, ids, mostLooked),
    cronJob.dependsOn.length === 0 ? undefined : listParentAlerts(store, [ref]),
  ]);
  const reach: ReachFacts = {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: acceptedSince(now, days),
    byDrills,
  };
  return monitors.flatMap(({ monitorId, namespace, name }) => {
    const found = rulesOf(monitorId, cronJob.id);
    if (!found) return [];
    const ofMonitor = isGroupName(cronJob.name)
      ? { ...found, looksFor: found.looksForInGroups, expects: undefined }
      : found;
    return types.map((type) => {
      const last = alerts.find((alert) => alert.monitorId === monitorId && alert.type === type);
      return presentRoute(ofMonitor, type, reach, {
        monitor: { namespace, name },
        cronJob,
        silences,
        last: last && toLast(last),
        runs: toJudged(runs, ofMonitor),
        slots: slots.get(cronJob.id) ?? [],
        parents: parents?.get(ref) ?? [],
        now,
      });
    });
  });
}

function toLast({ id, state, lastNotifiedAt, dueAt }: StoredAlert): LastAlert {
  return { id, state, lastNotifiedAt, dueAt };
}

/** Newest first, those that the monitor counts. */
function toJudged(runs: readonly StoredExecution[], { jobFailed }: RouteRules): JudgedRun[] {
  return runs
    .filter(({ trigger }) => trigger === 'scheduled' || jobFailed.includeManual)
    .flatMap(({ jobName, status, finishedAt, createdAt, exitCode, reason }): JudgedRun[] =>
      status === 'success' || status === 'failed'
        ? [{ jobName, status, endedAt: finishedAt ?? createdAt, exitCode, reason }]
        : [],
    );
}

function presentRoute(rules: RouteRules, type: AlertType, reach: ReachFacts, moment: RouteMoment): AlertRoute {
  const route = routeOf(rules, type, reach);
  const { quiet, holds } = outcomeOf(route, rules, moment);
  return {
    monitor: moment.monitor,
    type,
    opens: quiet === undefined,
    quiet: orNull(quiet),
    severity: route.severity,
    severitySource: route.severitySource,
    holds: holds.map(({ reason, untilAt, ref }) => ({ reason, until: toWireInstantOrNull(untilAt), ref: orNull(ref) })),
    state: route.state,
    reason: orNull(route.reason),
    channels: route.channels.map(({ name, via, afterMs, state, reason }) => {
      return { name, via, afterSeconds: afterMs / 1_000, state, reason: orNull(reason) };
    }),
    refused: route.refused,
  };
}
