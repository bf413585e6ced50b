import type { ScheduleProblem } from '@cronjob-monitor/shared/contract';
import type { CronJobFacts, Instant } from '@cronjob-monitor/shared/domain';
import { parse, ScheduleError } from '@cronjob-monitor/shared/domain/schedule';

/** When a CronJob runs next, or why nobody can tell. */
export interface Outlook {
  readonly problem: ScheduleProblem | undefined;
  /** Undefined while suspended, being deleted, or with a problem. */
  readonly nextRunAt: Instant | undefined;
}

/** The same rules as the CronJob controller's: what it does not understand, it does not start. */
export function outlookOf(cronJob: CronJobFacts, defaultZone: string, now: Instant): Outlook {
  try {
    const schedule = parse(cronJob.schedule);
    const zone = cronJob.timeZone ?? defaultZone;
    const anchorAt = Math.max(cronJob.lastScheduleAt ?? 0, cronJob.createdAt);
    if (schedule.kind === 'every' && cronJob.deadlineS !== undefined) {
      const periodMs = (schedule.next(anchorAt, zone) ?? Infinity) - anchorAt;
      // After each gap the controller looks back no further than the deadline, and so never reaches the next interval.
      if (cronJob.deadlineS * 1000 < periodMs - 1000) return { problem: 'neverRuns', nextRunAt: undefined };
    }
    const nextRunAt =
      schedule.kind === 'every' ? nextInterval(schedule, anchorAt, zone, now) : schedule.next(now, zone);
    if (nextRunAt === null) return { problem: 'neverRuns', nextRunAt: undefined };
    const rests = cronJob.suspended || cronJob.deletingAt !== undefined;
    return { problem: undefined, nextRunAt: rests ? undefined : nextRunAt };
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return { problem: error.code === 'zone' ? 'unknownZone' : 'unparsable', nextRunAt: undefined };
  }
}

/** Without a next run there is nothing that an instant could change, but the end of the years that are searched for one. */
const restAgainMs = 3_600_000;

/**
 * Tells outlooks to those who ask again and again: a schedule is searched anew only when the CronJob has changed, or its next run has
 * passed.
 */
export function createOutlooks(defaultZone: string): (cronJob: CronJobFacts, now: Instant) => Outlook {
  const known = new WeakMap<
    CronJobFacts,
    { readonly outlook: Outlook; readonly from: Instant; readonly until: Instant }
  >();
  return (cronJob, now) => {
    const last = known.get(cronJob);
    if (last && now >= last.from && now < last.until) return last.outlook;
    const outlook = outlookOf(cronJob, defaultZone, now);
    known.set(cronJob, { outlook, from: now, until: outlook.nextRunAt ?? now + restAgainMs });
    return outlook;
  };
}

/** Intervals count from the last start, or from the creation. */
function nextInterval(
  schedule: ReturnType<typeof parse>,
  anchorAt: Instant,
  zone: string,
  now: Instant,
): Instant | null {
  const first = schedule.next(anchorAt, zone);
  if (first === null || first > now) return first;
  const periodMs = first - Math.floor(anchorAt / 1000) * 1000;
  return first + (Math.floor((now - first) / periodMs) + 1) * periodMs;
}
