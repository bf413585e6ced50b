import type { SlaVerdict } from '@cronjob-monitor/shared/contract';
import { brokenTarget, judgeRate, type BrokenTarget, type Instant } from '@cronjob-monitor/shared/domain';
import {
  countOutcomes,
  listMonitors,
  listMonitorsOf,
  type Db,
  type MonitorOfCronJob,
  type OutcomeCounts,
} from '@cronjob-monitor/shared/store';
import { noSla, slaOf, type SlaTargetSpec } from '../../monitor-spec.ts';
import { cutToMinute, windowsOf } from '../../windows.ts';
import { countWithMissed, type Rates } from '../sla/rates.ts';

/** What a CronJob's runs and monitors come to. */
export interface CronJobFigures {
  /** Leading one first. */
  readonly monitors: readonly MonitorOfCronJob[];
  /** Of the leading monitor. */
  readonly sla: SlaTargetSpec;
  /** Over the window of `sla`, and over the window before, if that was asked for. */
  readonly current: OutcomeCounts;
  readonly previous: OutcomeCounts;
  /** What the target is judged by: the same, and runs that never started where the monitor counts them. */
  readonly judged: Rates;
  /** From then on its windows leave out a run that they count; unless something is told of it before they are the same until then, of one UTC day. */
  readonly holdUntilAt: Instant;
}

/** What the rate says of the target of the leading monitor. */
export function rateVerdictOf({ monitors, judged, sla }: CronJobFigures, broken: readonly BrokenTarget[]): SlaVerdict {
  return judgeRate(judged.current, sla, brokenTarget(broken, monitors[0]?.monitorId, 'successRate'));
}

const none: OutcomeCounts = { success: 0, failed: 0, approximate: false, firstAt: undefined };

const minuteMs = 60_000;
const dayMs = 86_400_000;

const nothing: ReadonlyMap<number, OutcomeCounts> = new Map();

/** Above so many the whole fleet is asked for, unless they are a small part of it: else cheaper than naming each. */
const mostNamed = 500;
const smallPart = 0.2;

/** Reads the figures of many CronJobs with a handful of questions, however many there are. */
export async function gatherFigures(
  db: Db,
  cronJobIds: readonly number[],
  now: Instant,
  options: { readonly withPrevious: boolean },
): Promise<ReadonlyMap<number, CronJobFigures>> {
  const ids = cronJobIds.length > mostNamed ? undefined : cronJobIds;
  const [monitors, targets] = await Promise.all([listMonitors(db), listMonitorsOf(db, ids)]);
  const slaOfMonitor = new Map(monitors.map(({ id, spec }) => [id, slaOf(spec)]));
  const monitorsOf = Map.groupBy(targets, ({ cronJobId }) => cronJobId);
  const slaFor = (id: number): SlaTargetSpec => {
    const [leading] = monitorsOf.get(id) ?? [];
    return (leading && slaOfMonitor.get(leading.monitorId)) ?? noSla;
  };

  const figures = new Map<number, CronJobFigures>();
  const byWindow = Map.groupBy(cronJobIds, (id) => slaFor(id).windowDays);
  for (const [windowDays, group] of byWindow) {
    const isNamed = group.length <= mostNamed || group.length <= smallPart * cronJobIds.length;
    const named = isNamed ? group : undefined;
    const { current, previous } = windowsOf(now, windowDays);
    const [currentCounts, previousCounts] = await Promise.all([
      countOutcomes(db, current, named),
      options.withPrevious ? countOutcomes(db, previous, named) : nothing,
    ]);
    const withMissed = group.filter((id) => slaFor(id).countMissed);
    const judgedOf =
      withMissed.length > 0 ? await countWithMissed(db, withMissed, windowsOf(now, windowDays)) : undefined;
    for (const id of group) {
      const scheduled = { current: currentCounts.get(id) ?? none, previous: previousCounts.get(id) ?? none };
      figures.set(id, {
        monitors: monitorsOf.get(id) ?? [],
        sla: slaFor(id),
        ...scheduled,
        judged: judgedOf && slaFor(id).countMissed ? judgedOf(id) : scheduled,
        holdUntilAt: Math.min(leavesAt(scheduled.current, windowDays), leavesAt(scheduled.previous, 2 * windowDays)),
      });
    }
  }
  return figures;
}

/** When a window that reaches back so many days no longer has the earliest run that it counts. */
function leavesAt({ firstAt }: OutcomeCounts, days: number): Instant {
  return firstAt === undefined ? Infinity : cutToMinute(firstAt + days * dayMs) + minuteMs;
}
