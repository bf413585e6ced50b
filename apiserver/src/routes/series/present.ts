import type { Series, SeriesDay } from '@cronjob-monitor/shared/contract';
import { judgeDay, startOfDay } from '@cronjob-monitor/shared/domain';
import type { DayCounts, DayDurations } from '@cronjob-monitor/shared/store';
import { orNull, toPercent, toSecondsOrNull, toWireDate, toWireInstant } from '../../wire-values.ts';

export interface SeriesFacts {
  /** The last one: days since 1970. */
  readonly today: number;
  readonly days: number;
  readonly counts: readonly DayCounts[];
  /** Empty for the fleet. */
  readonly durations: ReadonlyMap<number, DayDurations>;
  /** Oldest day with figures; undefined: none. */
  readonly oldestDay: number | undefined;
  /** Percent; undefined: nothing is promised. */
  readonly target: number | undefined;
}

const nothing: Omit<DayCounts, 'day'> = {
  success: 0,
  failed: 0,
  replaced: 0,
  deleted: 0,
  unobserved: 0,
  manual: 0,
  late: 0,
  missed: 0,
  skipped: 0,
  suspended: 0,
  unseen: 0,
  alerts: 0,
};

/** One item for each day, oldest first: a day on which nothing ran has zeros, one before all figures is not recorded. */
export function presentSeries({ today, days, counts, durations, oldestDay, target }: SeriesFacts): Series {
  const countsOf = new Map(counts.map((count) => [count.day, count]));
  const items = Array.from({ length: days }, (_, index) => {
    const day = today - days + 1 + index;
    const recorded = oldestDay !== undefined && day >= oldestDay;
    return presentDay({ ...nothing, ...countsOf.get(day), day }, durations.get(day), recorded ? target : 'notRecorded');
  });
  return {
    items,
    target: orNull(target),
    figuresFrom: oldestDay === undefined ? null : toWireInstant(startOfDay(oldestDay)),
    approximate: [...durations.values()].some(({ approximate }) => approximate),
  };
}

function presentDay(
  counts: DayCounts,
  durations: DayDurations | undefined,
  target: number | undefined | 'notRecorded',
): SeriesDay {
  const recorded = target !== 'notRecorded';
  const runs = counts.success + counts.failed;
  return {
    date: toWireDate(counts.day),
    recorded,
    verdict: recorded ? judgeDay(counts, target) : 'notRecorded',
    runs,
    success: counts.success,
    failed: counts.failed,
    other: counts.replaced + counts.deleted + counts.unobserved,
    manual: counts.manual,
    successRate: toPercent(counts.success, runs),
    avgDurationSeconds: toSecondsOrNull(durations?.avgMs),
    p50DurationSeconds: toSecondsOrNull(durations?.p50Ms),
    p95DurationSeconds: toSecondsOrNull(durations?.p95Ms),
    maxDurationSeconds: toSecondsOrNull(durations?.maxMs),
    alerts: counts.alerts,
    slots: {
      late: counts.late,
      missed: counts.missed,
      skipped: counts.skipped,
      suspended: counts.suspended,
      unseen: counts.unseen,
    },
  };
}
