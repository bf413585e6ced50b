import type { Risk } from '../../contract/index.ts';
import { risksOf, type ForecastFacts, type Heard, type PlannedRuns } from '../../domain/index.ts';
import { listWindowCounts } from '../catalog/cronjob-list.ts';
import { listMonitorsOf } from '../catalog/list-monitors.ts';
import type { CronJobOutline } from '../catalog/list-outlines.ts';
import type { Db } from '../database.ts';
import { gatherKnown, readLimits, type ForecastSources } from './gather-known.ts';

/** Monitors and rules are read by id for so many CronJobs at most, else those of the whole fleet. */
const mostById = 500;

/** What may end badly of the runs of a CronJob to come. */
export interface Foreseen {
  readonly planned: PlannedRuns<CronJobOutline>;
  readonly facts: ForecastFacts;
  /** At least one, likely ones first. */
  readonly risks: Risk[];
}

/** Who would hear of a failed run of a CronJob, by the monitors that select it. */
export type HeardOf = (cronJobId: number, monitorIds: readonly number[]) => Heard;

/**
 * Judges these runs to come; those without a risk are left out. Schedules, rates and coverage of all CronJobs come from what is kept, and
 * from a handful of statements; rows, runs and durations are read of those alone that may have a risk by them.
 *
 * @param readHeard Asked for these CronJobs; without ids for all.
 */
export async function foreseeRuns(
  db: Db,
  plan: readonly PlannedRuns<CronJobOutline>[],
  sources: ForecastSources,
  readHeard: (cronJobIds: readonly number[] | undefined) => Promise<HeardOf>,
): Promise<Foreseen[]> {
  const due = plan.filter(({ slots, cronJob, clockChange }) => slots.length > 0 || cronJob.problem || clockChange);
  const ids = due.map(({ cronJob }) => cronJob.id);
  const few = ids.length > mostById ? undefined : ids;
  const [monitors, windows, limits, longest, heardOf] = await Promise.all([
    listMonitorsOf(db, few),
    listWindowCounts(db, ids),
    readLimits(db),
    sources.ended.longestMs(ids),
    readHeard(few),
  ]);
  const selecting = Map.groupBy(monitors, ({ cronJobId }) => cronJobId);
  const monitorsOf = (id: number): readonly number[] => (selecting.get(id) ?? []).map(({ monitorId }) => monitorId);
  const known = await gatherKnown(db, sources, due, {
    limits,
    longestOf: ({ id, lastDurationMs = 0 }) => Math.max(longest.get(id) ?? 0, lastDurationMs),
    monitorsOf,
  });
  return due.flatMap((planned): Foreseen | [] => {
    const { id } = planned.cronJob;
    const { success = 0, failed = 0 } = windows.get(id) ?? {};
    const facts: ForecastFacts = {
      ...known(planned),
      slots: planned.slots,
      afterAt: planned.afterAt,
      suspended: planned.cronJob.suspended,
      clockChange: planned.clockChange,
      rate: { failed, runs: success + failed },
      heard: heardOf(id, monitorsOf(id)),
    };
    const risks = risksOf(facts);
    return risks.length === 0 ? [] : { planned, facts, risks };
  });
}
