import type { Instant } from '../instant.ts';
import { dailyInstants } from '../schedule/daily-instants.ts';
import type { Schedule } from '../schedule/index.ts';
import { UpcomingRuns, type ScheduleFacts } from './upcoming.ts';

/** What is forecast at its begin and judged at its end: from 18:00 to 06:00 of a zone. */
export interface Night {
  readonly fromAt: Instant;
  readonly untilAt: Instant;
}

/** The night that began last, over or not. */
export function lastNight(zone: string, now: Instant): Night {
  return nightFrom(zone, dailyInstants('18:00', zone, now).lastAt);
}

/** The night that began at an instant: at 18:00, unless the zone was another one then. */
export function nightFrom(zone: string, fromAt: Instant): Night {
  return { fromAt, untilAt: dailyInstants('06:00', zone, fromAt).nextAt };
}

/** The runs of a CronJob that are due within a window. */
export interface PlannedRuns<C extends ScheduleFacts> {
  readonly cronJob: C;
  /** Rising, and one list for all CronJobs with the same schedule. Those of a suspended CronJob are due and do not start. */
  readonly slots: readonly Instant[];
  /** The first run after those. */
  readonly afterAt: Instant | undefined;
  /** The least time between two of these runs; Infinity without a second one. */
  readonly shortestGapMs: number;
  /** What a change of the clocks does to them, in words. */
  readonly clockChange: string | undefined;
}

/** Runs of one CronJob; two days of minutes and a column of the wall are fewer. */
const mostRuns = 4_500;

interface Ends {
  readonly afterAt: Instant | undefined;
  readonly shortestGapMs: number;
}

/** The runs of each of these CronJobs between two instants, computed once for each schedule. */
export function planRuns<C extends ScheduleFacts>(
  cronJobs: readonly C[],
  { from, until }: { readonly from: Instant; readonly until: Instant },
  defaultZone: string,
): PlannedRuns<C>[] {
  const upcoming = new UpcomingRuns(defaultZone);
  const span = { from, until: until - 1, most: mostRuns };
  const endsOf = new Map<readonly Instant[], Ends>();
  return cronJobs.map((cronJob): PlannedRuns<C> => {
    const awake = cronJob.suspended ? { ...cronJob, suspended: false } : cronJob;
    const schedule = upcoming.scheduleOf(awake);
    if (!schedule) return { cronJob, slots: [], afterAt: undefined, shortestGapMs: Infinity, clockChange: undefined };
    const slots = upcoming.slotsOf(awake, schedule, span);
    const ends = endsOf.get(slots) ?? endsIn(schedule, slots, cronJob.timeZone ?? defaultZone);
    endsOf.set(slots, ends);
    return { cronJob, slots, ...ends, clockChange: upcoming.clockChangeOf(cronJob, schedule, slots, span) };
  });
}

function endsIn(schedule: Schedule, slots: readonly Instant[], zone: string): Ends {
  const lastAt = slots.at(-1);
  if (lastAt === undefined) return { afterAt: undefined, shortestGapMs: Infinity };
  const afterAt = schedule.next(lastAt, zone) ?? undefined;
  const all = afterAt === undefined ? slots : [...slots, afterAt];
  let shortestGapMs = Infinity;
  all.reduce((before, at) => {
    shortestGapMs = Math.min(shortestGapMs, at - before);
    return at;
  }, -Infinity);
  return { afterAt, shortestGapMs };
}
