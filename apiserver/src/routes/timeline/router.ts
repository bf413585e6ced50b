import {
  Timeline,
  TimelineItem,
  timelineSortKeys,
  type Ref,
  type TimelineBucket,
  type UpcomingRun,
  type Verdict,
} from '@cronjob-monitor/shared/contract';
import {
  skippedDates,
  UpcomingRuns,
  windowAt,
  type Instant,
  type MaintenanceWindow,
  type Span,
  type ZoneClock,
  hourMs,
} from '@cronjob-monitor/shared/domain';
import {
  listCronJobsById,
  listMedianDurations,
  listMonitors,
  listMonitorsOf,
  type CronJobOutline,
} from '@cronjob-monitor/shared/store';
import { pageOf, toPagination, usualPageSize } from '../../middleware/pagination.ts';
import type { Values } from '../../middleware/validate.ts';
import { maintenanceOf } from '../../monitor-spec.ts';
import { cutToMinute } from '../../windows.ts';
import { orNull, toSecondsOrNull, toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { findOutlines, sortOutlines } from '../find-outlines.ts';
import { getKnownCronJob } from '../known-cron-job.ts';
import { judgeCronJobs } from '../verdicts/of-cron-jobs.ts';
import { namespaces, oneMonitor, paging, search, sort, whole } from '../../middleware/parameters.ts';
import type { ScheduledCronJob } from '../../next-run.ts';

const timelineQuery = {
  hours: whole('Width of the window, 24 without it.', { min: 1, max: 168 }),
  namespace: namespaces,
  monitor: oneMonitor,
  search: search(),
  sort: sort(timelineSortKeys, { key: 'nextRun', descending: false }),
  ...paging,
};
type TimelineQuery = Values<typeof timelineQuery>;

const oneTimelineQuery = { count: whole('Runs to come, 20 without it.', { min: 1, max: 500 }) };

const defaultHours = 24;
const defaultCount = 20;
/** Runs of one CronJob that the fleet's timeline lists. */
const mostRunsOfOne = 200;

/** Runs of one CronJob are looked for so far ahead: its schedule may come once in four years. */
const farMs = 12 * 366 * 24 * hourMs;

/** Runs to come, of the fleet and of one CronJob. */
export const timelineRoutes = [
  route(
    {
      method: 'GET',
      path: '/timeline',
      tag: 'Time',
      id: 'getFleetTimeline',
      says: 'Runs to come of the fleet',
      ability: 'read',
      expensive: 1,
      query: timelineQuery,
      answer: Timeline,
    },
    ({ deps, query }) => readTimeline(deps, query),
  ),
  route(
    {
      method: 'GET',
      path: '/cronjobs/:namespace/:name/timeline',
      tag: 'Time',
      id: 'getTimeline',
      says: 'Runs to come of a CronJob',
      ability: 'read',
      query: oneTimelineQuery,
      answer: TimelineItem,
    },
    async ({ deps, ctx, query: { count = defaultCount } }) => {
      const { store, settings, clock } = deps;
      const { cronJob } = await getKnownCronJob(store, ctx.params);
      const from = clock.now();
      const upcoming = new UpcomingRuns(settings.defaultTimeZone);
      const schedule = upcoming.scheduleOf(cronJob);
      // The window ends with the last run that is asked for, however far that is.
      const slots = schedule ? upcoming.slotsOf(cronJob, schedule, { from, until: from + farMs, most: count }) : [];
      const span = { from, until: slots.at(-1) ?? from, most: count };
      const [item] = await presentItems(deps, [cronJob], span, upcoming);
      return item;
    },
  ),
];

async function readTimeline(deps: RouteDeps, query: TimelineQuery): Promise<Timeline> {
  const { clock, settings } = deps;
  const { hours = defaultHours } = query;
  const from = cutToMinute(clock.now());
  const until = from + hours * hourMs;
  const page = pageOf(query, usualPageSize);
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
  return sortOutlines(outlines, sort, { now, defaultTimeZone });
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
    return presentUpcoming(upcoming, cronJob, span, more);
  });
}

const quarterMs = 15 * 60_000;
/** Above so many hours buckets are an hour wide. */
const mostHoursOfQuarters = 48;

interface Buckets {
  readonly bucketSeconds: number;
  readonly approximate: boolean;
  readonly buckets: readonly TimelineBucket[];
}

/**
 * How many runs of how many CronJobs begin in each bucket. One that runs more than once a bucket is followed for as many runs
 * as there are buckets, and counted by its rate from there on.
 */
function countBuckets(
  cronJobs: readonly PlannedCronJob[],
  span: { readonly from: Instant; readonly until: Instant; readonly hours: number },
  upcoming: UpcomingRuns,
): Buckets {
  const widthMs = span.hours > mostHoursOfQuarters ? hourMs : quarterMs;
  const firstAt = Math.floor(span.from / widthMs) * widthMs;
  const count = Math.ceil((span.until - firstAt) / widthMs);
  const runs = zeros(count);
  const busy = zeros(count);
  let approximate = false;

  for (const [slots, sharing] of groupBySlots(cronJobs, { ...span, most: count }, upcoming)) {
    const each = zeros(count);
    for (const at of slots) add(each, Math.floor((at - firstAt) / widthMs), 1);
    if (slots.length === count) approximate = addByRate(each, slots, { ...span, firstAt, widthMs }) || approximate;
    each.forEach((ofBucket, index) => {
      add(runs, index, ofBucket * sharing);
      add(busy, index, ofBucket > 0 ? sharing : 0);
    });
  }
  return {
    bucketSeconds: widthMs / 1000,
    approximate,
    buckets: runs.map((ofBucket, index) => ({
      start: toWireInstant(firstAt + index * widthMs),
      runs: Math.round(ofBucket),
      cronJobs: busy[index] ?? 0,
    })),
  };
}

/** How many CronJobs share each list of slots: in a large fleet many have the same schedule. */
function groupBySlots(
  cronJobs: readonly PlannedCronJob[],
  span: Span,
  upcoming: UpcomingRuns,
): ReadonlyMap<readonly Instant[], number> {
  const sharing = new Map<readonly Instant[], number>();
  for (const cronJob of cronJobs) {
    const schedule = upcoming.scheduleOf(cronJob);
    if (!schedule) continue;
    const slots = upcoming.slotsOf(cronJob, schedule, span);
    sharing.set(slots, (sharing.get(slots) ?? 0) + 1);
  }
  return sharing;
}

/** Fills what lies behind the last known slot. False: there was nothing left to fill. */
function addByRate(
  mine: number[],
  slots: readonly Instant[],
  span: { readonly from: Instant; readonly until: Instant; readonly firstAt: Instant; readonly widthMs: number },
): boolean {
  const lastAt = slots.at(-1) ?? span.until;
  if (lastAt >= span.until) return false;
  const perMs = slots.length / (lastAt - span.from);
  const behind = lastAt + 1 / perMs; // the last slot has its share already
  mine.forEach((_, index) => {
    const start = Math.max(behind, span.firstAt + index * span.widthMs);
    const end = Math.min(span.until, span.firstAt + (index + 1) * span.widthMs);
    if (end > start) add(mine, index, perMs * (end - start));
  });
  return true;
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

function add(list: number[], index: number, more: number): void {
  list[index] = (list[index] ?? 0) + more;
}

/** What the runs of a CronJob to come are told from. */
interface PlannedCronJob extends Ref, ScheduledCronJob {
  readonly id: number;
}

/** One lane of the timeline. */
function presentUpcoming(
  upcoming: UpcomingRuns,
  cronJob: PlannedCronJob,
  span: Span,
  more: {
    readonly expectedMs: number | undefined;
    readonly windows: readonly MaintenanceWindow[];
    readonly verdict: Verdict;
  },
): TimelineItem {
  const schedule = upcoming.scheduleOf(cronJob);
  const slots = schedule ? upcoming.slotsOf(cronJob, schedule, { ...span, most: mostCounted }) : [];
  const clock = upcoming.clockOf(schedule?.zone ?? cronJob.timeZone ?? upcoming.defaultZone);
  const last = slots[Math.min(slots.length, span.most) - 1] ?? span.from;
  return {
    namespace: cronJob.namespace,
    name: cronJob.name,
    timezone: orNull(cronJob.timeZone),
    suspended: cronJob.suspended,
    verdict: more.verdict,
    expectedDurationSeconds: toSecondsOrNull(more.expectedMs),
    next: slots.slice(0, span.most).map((at) => toRun(at, clock, more.windows)),
    skippedDates:
      schedule?.kind === 'cron' && clock
        ? skippedDates(cronJob.schedule, clock, {
            from: span.from,
            until: Math.min(span.until, last, span.from + yearMs),
          })
        : [],
    omitted: Math.max(0, slots.length - span.most),
  };
}

/** Runs of one CronJob that are counted; a week of minutes has 10,080. */
const mostCounted = 11_000;
/** Changes of clocks are looked for so far ahead. */
const yearMs = 366 * 86_400_000;

function toRun(at: Instant, clock: ZoneClock | undefined, windows: readonly MaintenanceWindow[]): UpcomingRun {
  return {
    scheduledFor: toWireInstant(at),
    localTime: clock?.localText(at) ?? toWireInstant(at),
    dst: clock?.isRepeated(at) ? 'repeated' : 'none',
    inMaintenance: windows.length > 0 && windowAt(windows, at) !== undefined,
  };
}
