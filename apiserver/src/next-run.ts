import { parse } from '@cronjob-monitor/shared/domain/schedule';
import type { Instant, ScheduleFacts } from '@cronjob-monitor/shared/domain';

/** What decides when a CronJob runs next. */
export interface ScheduledCronJob extends ScheduleFacts {
  /** As the controller last computed it. */
  readonly nextRunAt: Instant | undefined;
}

/**
 * When it is due next after `now`. The controller's own answer holds while it lies ahead; when it has passed, because no leader
 * has looked since, it is computed anew. Undefined: suspended, deleted, its schedule cannot be judged, or never.
 */
export function nextRunOf(cronJob: ScheduledCronJob, now: Instant, defaultTimeZone: string): Instant | undefined {
  if (cronJob.suspended || cronJob.problem !== undefined || cronJob.deletedAt !== undefined) return undefined;
  if (cronJob.nextRunAt !== undefined && cronJob.nextRunAt > now) return cronJob.nextRunAt;
  try {
    const schedule = parse(cronJob.schedule);
    const zone = cronJob.timeZone ?? defaultTimeZone;
    if (schedule.kind === 'cron') return schedule.next(now, zone) ?? undefined;
    const anchor = cronJob.everyAnchorAt ?? cronJob.lastScheduleAt ?? cronJob.createdAt;
    const first = schedule.next(anchor, zone);
    if (first === null || first > now) return first ?? undefined;
    const interval = first - anchor;
    return anchor + (Math.floor((now - anchor) / interval) + 1) * interval;
  } catch {
    return undefined; // an unreadable schedule has no next run; its problem is told elsewhere
  }
}
