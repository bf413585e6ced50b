import { parse } from '@cronjob-monitor/shared/domain/schedule';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { CatalogCronJob } from '@cronjob-monitor/shared/store';

/** More are not listed one by one: nobody has judged them for a long time. */
const mostDue = 500;

/**
 * Expected runs that are due and of which nobody has said anything yet: those after the last one that a run answered or a
 * verdict settled. Newest first. A suspended, deleted or unreadable CronJob has none.
 */
export function listDueSlots(
  cronJob: CatalogCronJob,
  window: { readonly since: Instant; readonly until: Instant; readonly now: Instant },
  lastKnownAt: Instant | undefined,
  defaultTimeZone: string,
): Instant[] {
  if (cronJob.suspended || cronJob.problem !== undefined || cronJob.deletedAt !== undefined) return [];
  const settled = Math.max(lastKnownAt ?? 0, (cronJob.evaluatedThroughAt ?? 1) - 1, cronJob.createdAt);
  const from = Math.max(settled, window.since - 1);
  const to = Math.min(window.until - 1, window.now);
  if (from >= to) return [];
  try {
    const schedule = parse(cronJob.schedule);
    // Intervals count from their last run: between two of them nothing but that run says where.
    const start = schedule.kind === 'every' ? Math.max(settled, cronJob.everyAnchorAt ?? settled) : from;
    const due = schedule.between(start, to, cronJob.timeZone ?? defaultTimeZone, mostDue);
    return due.filter((at) => at > from).reverse();
  } catch {
    return []; // a schedule that nobody can read expects nothing; its problem is told elsewhere
  }
}
