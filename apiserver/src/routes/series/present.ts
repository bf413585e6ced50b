import type { FactOfDay, Series, SeriesDay } from '@cronjob-monitor/shared/contract';
import { dayOf, judgeDay, nearestRank, startOfDay } from '@cronjob-monitor/shared/domain';
import type { DayCounts, DayDurations, FactPoint } from '@cronjob-monitor/shared/store';
import { orNull, toPercent, toSecondsOrNull, toWireDate, toWireInstant } from '../../wire-values.ts';

interface SeriesFacts {
  /** The last one: days since 1970. */
  readonly today: number;
  readonly days: number;
  readonly counts: readonly DayCounts[];
  /** Empty for the fleet. */
  readonly durations: ReadonlyMap<number, DayDurations>;
  /** Oldest day with figures; undefined: none. */
  readonly oldestDay: number | undefined;
  /** By name of the facts that were asked for. */
  readonly facts: ReadonlyMap<string, readonly FactPoint[]>;
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
export function presentSeries({ today, days, counts, durations, oldestDay, target, facts }: SeriesFacts): Series {
  const factsOf = factsByDay(facts);
  const countsOf = new Map(counts.map((count) => [count.day, count]));
  const items = Array.from({ length: days }, (_, index) => {
    const day = today - days + 1 + index;
    const recorded = oldestDay !== undefined && day >= oldestDay;
    const shown = { durations: durations.get(day), facts: factsOf.get(day) ?? {} };
    return presentDay({ ...nothing, ...countsOf.get(day), day }, shown, recorded ? target : 'notRecorded');
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
  { durations, facts }: { readonly durations: DayDurations | undefined; readonly facts: SeriesDay['facts'] },
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
    facts,
  };
}

function factsByDay(facts: SeriesFacts['facts']): ReadonlyMap<number, SeriesDay['facts']> {
  const days = new Map<number, Record<string, FactOfDay>>();
  for (const [name, points] of facts) {
    for (const [day, ofDay] of Map.groupBy(points, ({ createdAt }) => dayOf(createdAt))) {
      const rising = ofDay.map(({ value }) => value).sort((a, b) => a - b);
      const [min = 0] = rising;
      const median = nearestRank(rising, 0.5) ?? min;
      const figures = { min, median, max: rising.at(-1) ?? min, last: ofDay.at(-1)?.value ?? min };
      days.set(day, { ...days.get(day), [name]: figures });
    }
  }
  return days;
}
