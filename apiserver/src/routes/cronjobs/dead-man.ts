import type { CronJobDetail } from '@cronjob-monitor/shared/contract';
import { deadManDue, isGroupName, type Instant } from '@cronjob-monitor/shared/domain';
import { nthSlotAfter } from '@cronjob-monitor/shared/domain/schedule';
import {
  listJudgedCronJobs,
  listMonitors,
  listSpecEpochs,
  measureLastDurations,
  type CatalogCronJob,
} from '@cronjob-monitor/shared/store';
import { deadManRuleOf } from '../../monitor-spec.ts';
import { toWireInstantOrNull } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';

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
