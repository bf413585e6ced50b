import type { Timeline } from '@cronjob-monitor/shared/contract';
import type { Instant, MaintenanceWindow } from '@cronjob-monitor/shared/domain';
import {
  listCronJobsById,
  listMedianDurations,
  listMonitors,
  listMonitorsOf,
  type CronJobOutline,
} from '@cronjob-monitor/shared/store';
import { pageOf, toPagination } from '../../middleware/pagination.ts';
import { readQuery } from '../../middleware/validate.ts';
import { maintenanceOf } from '../../monitor-spec.ts';
import { cutToMinute } from '../../windows.ts';
import { toWireInstant } from '../../wire-values.ts';
import { sortOutlines } from '../cronjobs/order.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { findOutlines } from '../find-outlines.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { countBuckets } from './buckets.ts';
import {
  defaultCount,
  defaultHours,
  defaultLimit,
  mostRunsOfOne,
  oneTimelineQuery,
  timelineQuery,
  type TimelineQuery,
} from './query.ts';
import { judgeCronJobs } from '../verdicts/of-cron-jobs.ts';
import { UpcomingRuns, type PlannedCronJob, type Span } from './upcoming.ts';

const hourMs = 3_600_000;
/** Runs of one CronJob are looked for so far ahead: its schedule may come once in four years. */
const farMs = 12 * 366 * 24 * hourMs;

/**
 * @openapi
 * /timeline:
 *   get:
 *     tags: [Time]
 *     operationId: getFleetTimeline
 *     summary: Runs to come of the fleet
 *     x-ability: read
 *     x-query: [hours, namespaces, monitor, search, timelineSort, limit, offset]
 *     x-answers: { 200: Timeline }
 *     x-refusals: [429]
 * /cronjobs/{namespace}/{name}/timeline:
 *   get:
 *     tags: [Time]
 *     operationId: getTimeline
 *     summary: Runs to come of a CronJob
 *     x-ability: read
 *     x-query: [count]
 *     x-answers: { 200: TimelineItem }
 *     x-refusals: [404]
 */

/** Runs to come, of the fleet and of one CronJob. */
export function timelineRouter(deps: RouteDeps): ApiRouter {
  const { guard, store, settings, clock } = deps;
  return createRouter()
    .get('/timeline', guard({ ability: 'read', expensive: 1 }), async (ctx) => {
      ctx.body = await readTimeline(deps, readQuery(ctx, timelineQuery));
    })
    .get('/cronjobs/:namespace/:name/timeline', guard({ ability: 'read' }), async (ctx) => {
      const { count = defaultCount } = readQuery(ctx, oneTimelineQuery);
      const { cronJob } = await getKnownCronJob(store, ctx.params);
      const from = clock.now();
      const upcoming = new UpcomingRuns(settings.defaultTimeZone);
      const schedule = upcoming.scheduleOf(cronJob);
      // The window ends with the last run that is asked for, however far that is.
      const slots = schedule ? upcoming.slotsOf(cronJob, schedule, { from, until: from + farMs, most: count }) : [];
      const span = { from, until: slots.at(-1) ?? from, most: count };
      const [item] = await presentItems(deps, [cronJob], span, upcoming);
      ctx.body = item;
    });
}

async function readTimeline(deps: RouteDeps, query: TimelineQuery): Promise<Timeline> {
  const { clock, settings } = deps;
  const { hours = defaultHours } = query;
  const from = cutToMinute(clock.now());
  const until = from + hours * hourMs;
  const page = pageOf(query, defaultLimit);
  const all = await readInOrder(deps, query, from);
  const upcoming = new UpcomingRuns(settings.defaultTimeZone);
  const shown = all.slice(page.offset, page.offset + page.limit);
  return {
    from: toWireInstant(from),
    until: toWireInstant(until),
    ...countBuckets(all, { from, until, hours }, upcoming),
    items: await presentItems(deps, shown, { from, until, most: mostRunsOfOne }, upcoming),
    pagination: toPagination(page, all.length),
  };
}

async function readInOrder(deps: RouteDeps, query: TimelineQuery, now: Instant): Promise<CronJobOutline[]> {
  const { namespace, monitor, search, sort } = query;
  const { defaultTimeZone } = deps.settings;
  const filter = { namespaces: namespace, monitor, search };
  const outlines = await findOutlines(deps, filter);
  return sortOutlines(outlines, sort, { figuresOf: () => undefined, now, defaultTimeZone });
}

async function presentItems(
  deps: RouteDeps,
  cronJobs: readonly PlannedCronJob[],
  span: Span,
  upcoming: UpcomingRuns,
): Promise<Timeline['items']> {
  const { store } = deps;
  const ids = cronJobs.map(({ id }) => id);
  const rows = await listCronJobsById(store, ids);
  const [judged, medians, monitors, targets] = await Promise.all([
    judgeCronJobs(deps, rows),
    listMedianDurations(store, ids),
    listMonitors(store),
    listMonitorsOf(store, ids),
  ]);
  const windowsOf = new Map(monitors.map(({ id, spec }) => [id, maintenanceOf(spec)]));
  const targetsOf = Map.groupBy(targets, ({ cronJobId }) => cronJobId);
  const windowsFor = (id: number): readonly MaintenanceWindow[] =>
    (targetsOf.get(id) ?? []).flatMap(({ monitorId }) => windowsOf.get(monitorId) ?? []);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return cronJobs.flatMap((cronJob) => {
    const row = rowOf.get(cronJob.id);
    if (!row) return []; // removed between the two questions
    const more = {
      expectedMs: medians.get(cronJob.id),
      windows: windowsFor(cronJob.id),
      verdict: judged.verdictOf(row),
    };
    return upcoming.item(cronJob, span, more);
  });
}
