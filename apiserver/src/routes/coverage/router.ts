import {
  type AlertType,
  alertTypes,
  CoverageList,
  CronJobCoverage,
  CronJobRoutes,
  type Problem,
  TypeCoverage,
} from '@cronjob-monitor/shared/contract';
import { dayMs, type Instant } from '@cronjob-monitor/shared/domain';
import { type CatalogCronJob, findLiveLeader, findUnwatched, type Store } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { toWireInstant } from '../../wire-values.ts';
import { route } from '../route.ts';
import { answerExport, columnsOf, exportable, isExport } from '../export/answer.ts';
import type { RouteDeps } from '../deps.ts';
import { getSelectedCronJob, type KnownCronJob } from '../known-cron-job.ts';
import { readCoverageInBatches, readCoverageList } from './list.ts';
import { coverageQuery, coverageRules, routeQuery, withDefaults } from './query.ts';
import { readRoutes } from './routes-of.ts';
import { callerOf } from '../../middleware/guard.ts';
import type { Values } from '../../middleware/validate.ts';

/** What is known of windows and silences reaches so far ahead. */
const furthestMs = 31 * dayMs;

/** A route is asked about from now on: what was so before is in the timeline of an alert. */
function lieAhead({ at }: Values<typeof routeQuery>, now: Instant): Problem[] {
  const slackMs = 60_000;
  return at !== undefined && (at < now - slackMs || at > now + furthestMs)
    ? [{ in: 'query', field: 'at', message: 'lies outside what can be told', allowed: 'from now to 31 days ahead' }]
    : [];
}

/** Of a file: a row for each type that is asked for. */
const fileColumns = [...columnsOf(CronJobCoverage), ...columnsOf(TypeCoverage).map((column) => `of.${column}`)];

/** Who would hear: of one CronJob, and of all. */
export const coverageRoutes = [
  route(
    {
      method: 'GET',
      path: '/coverage',
      tag: 'Coverage',
      id: 'listCoverage',
      says: 'Which CronJobs can break without any channel that hears of it, and why',
      ability: 'read',
      ...exportable,
      expensive: (ctx) => (isExport(ctx) ? 2 : 1),
      query: coverageQuery,
      rules: coverageRules,
      answer: CoverageList,
    },
    async ({ deps, ctx, query }) => {
      const asked = withDefaults(query);
      if (asked.format) {
        const batches = readCoverageInBatches(deps, asked);
        return answerExport(deps, ctx, asked.format, { name: 'coverage', columns: fileColumns, batches });
      }
      return deps.answers.read(['coverage', asked], () => readCoverageList(deps, asked));
    },
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/route',
      tag: 'Coverage',
      id: 'getRoute',
      says: 'What an alert of a CronJob would do now, for each monitor and type',
      ability: 'read',
      query: routeQuery,
      rules: [lieAhead],
      answer: CronJobRoutes,
    },
    async ({ deps, ctx, query }) => {
      const { store } = deps;
      const cronJob = await getSelectedCronJob(store, ctx.params).catch(async (error: unknown) => {
        const isMissing = error instanceof ApiError && error.code === 'NOT_FOUND';
        if (isMissing && (await isUnwatched(store, ctx.params))) return undefined;
        throw error;
      });
      return tellRoutes(deps, ctx, cronJob, query);
    },
  ),
];

/** Who hears now if a run of it fails; null: no monitor selects it. */
export async function readIncludedRoute(
  deps: RouteDeps,
  ctx: ApiContext,
  { cronJob, isSelected }: KnownCronJob,
): Promise<CronJobRoutes | null> {
  return isSelected ? tellRoutes(deps, ctx, cronJob, { type: ['jobFailed'] }) : null;
}

interface RouteQuestion {
  readonly type: readonly AlertType[];
  readonly days?: number | undefined;
  readonly proved?: boolean | undefined;
  readonly at?: Instant | undefined;
}

/** No CronJob: no monitor selects it, so that no alert of it goes anywhere. */
async function tellRoutes(
  deps: RouteDeps,
  ctx: ApiContext,
  cronJob: CatalogCronJob | undefined,
  query: RouteQuestion,
): Promise<CronJobRoutes> {
  const { store } = deps;
  const { type, days = 30, proved: byDrills = false, at = store.now() } = query;
  const caller = callerOf(ctx);
  // What a message looks like tells of the channel's spec, which not everyone who reads the CronJob may read.
  const renders = type.length === 1 && (await deps.authentication.may(caller, 'readChannels', {}));
  const mayRead = (namespace: string): Promise<boolean> => deps.authentication.may(caller, 'read', { namespace });
  const question = { types: typesOf(type), days, byDrills, at, isNow: query.at === undefined, renders, mayRead };
  const routes = cronJob ? await readRoutes(deps, cronJob, question) : [];
  const leader = await findLiveLeader(store, store.now(), deps.settings.leaseMs);
  const { namespace = '', name = '' } = ctx.params;
  return { namespace, name, leader: leader !== undefined, at: toWireInstant(at), routes };
}

/** It is there, and no monitor selects it. */
async function isUnwatched(store: Store, { namespace, name }: Readonly<Record<string, string>>): Promise<boolean> {
  return (await findUnwatched(store)).names.includes(`${namespace}/${name}`);
}

/** Each type once, in the order of `alertTypes`; all where none is asked for. */
function typesOf(asked: readonly AlertType[]): readonly AlertType[] {
  return asked.length === 0 ? alertTypes : alertTypes.filter((type) => asked.includes(type));
}
