import type { CronJobDetail, CronJobMetrics } from '@cronjob-monitor/shared/contract';
import { deadManDue, defaultWindowDays, isGroupName, rateWindows, type Instant } from '@cronjob-monitor/shared/domain';
import {
  countOutcomes,
  gatherFigures,
  listJudgedCronJobs,
  listMonitors,
  listSpecEpochs,
  measureDurations,
  measureLastDurations,
  type CatalogCronJob,
  type Db,
  type OutcomeCounts,
} from '@cronjob-monitor/shared/store';
import { toPercent, toSecondsOrNull, toWireInstantOrNull } from '../../wire-values.ts';
import { nthSlotAfter } from '@cronjob-monitor/shared/domain/schedule';
import { deadManRuleOf } from '../../monitor-spec.ts';
import type { RouteDeps } from '../deps.ts';

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

/** As the switch measures them. */
const durations = { newest: 20, fewest: 5 };

/** When the first dead-man's switch of those that watch a CronJob fires, and what it counts from: the question that its judge asks. */
export async function readDeadMan(
  { store, settings }: Pick<RouteDeps, 'store' | 'settings'>,
  cronJob: CatalogCronJob,
  now: Instant,
): Promise<Pick<CronJobDetail, 'deadManDueAt' | 'deadManBasis'>> {
  const none = { deadManDueAt: null, deadManBasis: null };
  if (cronJob.deletedAt !== undefined || isGroupName(cronJob.name)) return none;
  const [[judged], monitors, epochs, measured] = await Promise.all([
    listJudgedCronJobs(store, [cronJob.id]),
    listMonitors(store),
    listSpecEpochs(store, [cronJob.id]),
    measureLastDurations(store, [cronJob.id], durations.newest),
  ]);
  const zone = cronJob.timeZone ?? settings.defaultTimeZone;
  const last = measured.get(cronJob.id);
  const resumed = epochs.get(cronJob.id)?.findLast(({ suspended, toAt }) => suspended && toAt !== undefined);
  const dues = (judged?.monitors ?? []).flatMap(({ id, selects, judgesFromAt: originAt }) => {
    const rule = selects ? deadManRuleOf(monitors.find((monitor) => monitor.id === id)?.spec) : undefined;
    if (!rule) return [];
    const facts = {
      suspended: cronJob.suspended,
      lastSuccessAt: cronJob.lastSuccessAt,
      originAt,
      resumedAt: resumed?.toAt,
      p95DurationMs: last && last.runs >= durations.fewest ? last.p95Ms : undefined,
      nthSlotAfter: (after: Instant, n: number) => nthSlotAfter(cronJob.schedule, zone, after, n),
    };
    return deadManDue(rule, facts, now) ?? [];
  });
  const [first] = dues.sort((a, b) => a.at - b.at);
  return first ? { deadManDueAt: toWireInstantOrNull(first.at), deadManBasis: first.basis } : none;
}
