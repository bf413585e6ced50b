import type { CronJobMetrics } from '@cronjob-monitor/shared/contract';
import { defaultWindowDays, rateWindows, type Instant } from '@cronjob-monitor/shared/domain';
import {
  countOutcomes,
  gatherFigures,
  measureDurations,
  type Db,
  type OutcomeCounts,
} from '@cronjob-monitor/shared/store';
import { toPercent, toSecondsOrNull } from '../../wire-values.ts';

/** What the pages of these CronJobs tell of their runs, by id: over the window of the leading monitor, and the usual ones. */
export async function gatherMetrics(
  db: Db,
  ids: readonly number[],
  now: Instant,
): Promise<ReadonlyMap<number, CronJobMetrics>> {
  const figures = await gatherFigures(db, ids, now, { withPrevious: false });
  const metrics = new Map<number, CronJobMetrics>();
  for (const [id, { sla }] of figures) metrics.set(id, await readMetrics(db, id, sla.windowDays, now));
  return metrics;
}

async function readMetrics(db: Db, id: number, windowDays: number, now: Instant): Promise<CronJobMetrics> {
  const window = rateWindows(now, windowDays).current;
  const countsOver = async (days: number): Promise<OutcomeCounts | undefined> =>
    (await countOutcomes(db, rateWindows(now, days).current, [id])).get(id);
  // Most monitors have one of the usual windows.
  const asked = new Map([...new Set([windowDays, defaultWindowDays, 30])].map((days) => [days, countsOver(days)]));
  const [counts, week, month, durations] = await Promise.all([
    asked.get(windowDays),
    asked.get(defaultWindowDays),
    asked.get(30),
    measureDurations(db, id, window),
  ]);
  const { success = 0, failed = 0 } = counts ?? {};
  return {
    windowDays,
    successRate: toPercent(success, success + failed),
    totalRuns: success + failed,
    successfulRuns: success,
    failedRuns: failed,
    successRate7d: rateOf(week),
    successRate30d: rateOf(month),
    avgDurationSeconds: toSecondsOrNull(durations?.avgMs),
    p50DurationSeconds: toSecondsOrNull(durations?.p50Ms),
    p95DurationSeconds: toSecondsOrNull(durations?.p95Ms),
    p99DurationSeconds: toSecondsOrNull(durations?.p99Ms),
    approximate: [counts, week, month].some((part) => part?.approximate),
  };
}

function rateOf(counts: OutcomeCounts | undefined): number | null {
  return counts ? toPercent(counts.success, counts.success + counts.failed) : null;
}
