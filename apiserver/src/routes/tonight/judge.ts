import type { TonightItem } from '@cronjob-monitor/shared/contract';
import { CoverageJudge, risksOf, type ForecastFacts, type Instant } from '@cronjob-monitor/shared/domain';
import { listChannelHolds, listMonitorsOf, listWindowCounts } from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';
import { gatherKnown, readLimits } from './known.ts';
import type { PlannedRuns } from './plan.ts';

/** A channel that accepted nothing for so long is not proved. */
const provedDays = 30;
const dayMs = 86_400_000;
/** Rules are read by id for so many CronJobs at most, else those of the whole fleet. */
const mostById = 500;

/** What may end badly of the runs of a CronJob to come. */
export interface Judged {
  readonly planned: PlannedRuns;
  readonly facts: ForecastFacts;
  /** At least one, likely ones first. */
  readonly risks: TonightItem['risks'];
}

/**
 * Judges these runs to come; those without a risk are left out. Schedules, rates and coverage of all CronJobs come from what is kept, and
 * from a handful of statements; rows, runs and durations are read of those alone that may have a risk by them.
 */
export async function judgeRuns(deps: RouteDeps, plan: readonly PlannedRuns[], now: Instant): Promise<Judged[]> {
  const { store, ended } = deps;
  const due = plan.filter(({ slots, cronJob, clockChange }) => slots.length > 0 || cronJob.problem || clockChange);
  const ids = due.map(({ cronJob }) => cronJob.id);
  const few = ids.length > mostById ? undefined : ids;
  const [monitors, windows, limits, longest, channels, rules] = await Promise.all([
    listMonitorsOf(store, few),
    listWindowCounts(store, ids),
    readLimits(store),
    ended.longestMs(ids),
    listChannelHolds(store),
    deps.actions.readRouteRules(few),
  ]);
  const monitorsOf = Map.groupBy(monitors, ({ cronJobId }) => cronJobId);
  const judge = new CoverageJudge(['jobFailed'], {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: now - provedDays * dayMs,
  });
  const known = await gatherKnown(deps, due, {
    ended,
    limits,
    longestOf: ({ id, lastDurationMs = 0 }) => Math.max(longest.get(id) ?? 0, lastDurationMs),
    monitorsOf: (id) => (monitorsOf.get(id) ?? []).map(({ monitorId }) => monitorId),
  });
  return due.flatMap((planned): Judged | [] => {
    const { id } = planned.cronJob;
    const { success = 0, failed = 0 } = windows.get(id) ?? {};
    const coverage = judge.judge((monitorsOf.get(id) ?? []).flatMap(({ monitorId }) => rules(monitorId, id) ?? []));
    const [type] = coverage.types;
    const facts: ForecastFacts = {
      ...known(planned),
      slots: planned.slots,
      afterAt: planned.afterAt,
      suspended: planned.cronJob.suspended,
      clockChange: planned.clockChange,
      rate: { failed, runs: success + failed },
      heard: { state: coverage.state, reason: type?.reason, channels: type?.channels ?? [] },
    };
    const risks = risksOf(facts);
    return risks.length === 0 ? [] : { planned, facts, risks };
  });
}
