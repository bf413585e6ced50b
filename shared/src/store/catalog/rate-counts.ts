import {
  brokenTarget,
  judgeRate,
  noSla,
  rateWindows,
  slaOf,
  type BrokenTarget,
  type Instant,
  type SlaTargetSpec,
} from '../../domain/index.ts';
import type { SlaVerdict } from '../../contract/index.ts';
import { fromJson } from '../column.ts';
import type { Db } from '../database.ts';
import { countOutcomes, type OutcomeCounts } from '../executions/count-outcomes.ts';
import { countRateFacts } from '../facts/count-rate-facts.ts';
import { rowsIn } from '../upsert.ts';
import { listMonitorsOf, type MonitorOfCronJob } from './list-monitors.ts';

export interface RateCounts {
  readonly success: number;
  readonly failed: number;
}

/** Of a window, and of the one before. */
export interface Rates {
  readonly current: RateCounts;
  readonly previous: RateCounts;
}

export const noRuns: RateCounts = { success: 0, failed: 0 };

/** Above so many the whole fleet is asked for: cheaper than naming each. */
export const mostNamed = 500;
/** But a part of it that is so small is named all the same. */
const smallPart = 0.2;

type CountsOf = (cronJobId: number) => Rates;

type Windows = ReturnType<typeof rateWindows>;

/** Scheduled runs alone. */
export async function countScheduled(db: Db, ids: readonly number[], windows: Windows): Promise<CountsOf> {
  const named = ids.length > mostNamed ? undefined : ids;
  const [current, previous] = await Promise.all([
    countOutcomes(db, windows.current, named),
    countOutcomes(db, windows.previous, named),
  ]);
  return (id) => ({ current: current.get(id) ?? noRuns, previous: previous.get(id) ?? noRuns });
}

/** The same where a run that never started counts as failed. */
export async function countWithMissed(db: Db, ids: readonly number[], windows: Windows): Promise<CountsOf> {
  const [current, both] = await Promise.all([
    countRateFacts(db, ids, { from: windows.current.from, missed: true }),
    countRateFacts(db, ids, { from: windows.previous.from, missed: true }),
  ]);
  return (id) => {
    const now = current.get(id);
    const all = both.get(id);
    const success = now?.success ?? 0;
    const failed = (now?.failed ?? 0) + (now?.missed ?? 0);
    return {
      current: { success, failed },
      previous: { success: (all?.success ?? 0) - success, failed: (all?.failed ?? 0) + (all?.missed ?? 0) - failed },
    };
  };
}

export interface CronJobFigures {
  /** Leading one first. */
  readonly monitors: readonly MonitorOfCronJob[];
  /** Of the leading monitor. */
  readonly sla: SlaTargetSpec;
  /** Over the window of `sla`, and over the window before, if that was asked for. */
  readonly current: RateCounts;
  readonly previous: RateCounts;
  /** Counts that the target is judged by: with runs that never started, where the monitor counts them. */
  readonly judged: Rates;
}

/** Whether the rate meets the target of the leading monitor. */
export function rateVerdictOf({ monitors, judged, sla }: CronJobFigures, broken: readonly BrokenTarget[]): SlaVerdict {
  return judgeRate(judged.current, sla, brokenTarget(broken, monitors[0]?.monitorId, 'successRate'));
}

const nothing: ReadonlyMap<number, OutcomeCounts> = new Map();

/** Reads the figures of many CronJobs with a handful of questions, however many there are. */
export async function gatherFigures(
  db: Db,
  cronJobIds: readonly number[],
  now: Instant,
  options: { readonly withPrevious: boolean },
): Promise<ReadonlyMap<number, CronJobFigures>> {
  if (cronJobIds.length === 0) return new Map();
  const ids = cronJobIds.length > mostNamed ? undefined : cronJobIds;
  const targets = await listMonitorsOf(db, ids);
  const specs = await rowsIn(
    db,
    [...new Set(targets.map(({ monitorId }) => monitorId))],
    (list) => `select id, spec from monitors where id in (${list})`,
  );
  const slaOfMonitor = new Map(specs.map((row) => [Number(row['id']), slaOf(fromJson(row['spec']))]));
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
    const windows = rateWindows(now, windowDays);
    const [currentCounts, previousCounts] = await Promise.all([
      countOutcomes(db, windows.current, named),
      options.withPrevious ? countOutcomes(db, windows.previous, named) : nothing,
    ]);
    const withMissed = group.filter((id) => slaFor(id).countMissed);
    const judgedOf = withMissed.length > 0 ? await countWithMissed(db, withMissed, windows) : undefined;
    for (const id of group) {
      const scheduled = { current: currentCounts.get(id) ?? noRuns, previous: previousCounts.get(id) ?? noRuns };
      figures.set(id, {
        monitors: monitorsOf.get(id) ?? [],
        sla: slaFor(id),
        ...scheduled,
        judged: judgedOf && slaFor(id).countMissed ? judgedOf(id) : scheduled,
      });
    }
  }
  return figures;
}
