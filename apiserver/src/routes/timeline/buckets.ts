import type { TimelineBucket } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { toWireInstant } from '../../wire-values.ts';
import type { PlannedCronJob, Span, UpcomingRuns } from './upcoming.ts';

const quarterMs = 15 * 60_000;
const hourMs = 4 * quarterMs;
/** Above so many hours buckets are an hour wide. */
const mostHoursOfQuarters = 48;

export interface Buckets {
  readonly bucketSeconds: number;
  readonly approximate: boolean;
  readonly buckets: readonly TimelineBucket[];
}

/**
 * How many runs of how many CronJobs begin in each bucket. One that runs more than once a bucket is followed for as many runs
 * as there are buckets, and counted by its rate from there on.
 */
export function countBuckets(
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
