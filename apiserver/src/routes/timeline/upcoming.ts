import type { Ref, TimelineItem, UpcomingRun, Verdict } from '@cronjob-monitor/shared/contract';
import {
  skippedDates,
  windowAt,
  type Instant,
  type MaintenanceWindow,
  type Span,
  type UpcomingRuns,
  type ZoneClock,
} from '@cronjob-monitor/shared/domain';
import type { ScheduledCronJob } from '../../next-run.ts';
import { orNull, toSecondsOrNull, toWireInstant } from '../../wire-values.ts';

/** What the runs of a CronJob to come are told from. */
export interface PlannedCronJob extends Ref, ScheduledCronJob {
  readonly id: number;
}

/** One lane of the timeline. */
export function presentUpcoming(
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
