import type { DayVerdict, Series, SeriesDay } from '@cronjob-monitor/shared/contract';
import type { DayBar } from '../charts/days/day-bars.ts';
import type { DayCell } from '../charts/heatmap/cells.ts';
import { countText, percentText, plural, targetText } from './figures.ts';
import { shortDayText } from './time.ts';

/** Days of a series as stacked bars: succeeded, failed, missed, not seen. */
export function dayBars({ items }: Series): DayBar[] {
  return items.map((day) => ({
    date: day.date,
    label: shortDayText(`${day.date}T00:00:00Z`, 'UTC'),
    parts: [
      { kind: 'succeeded', count: day.success },
      { kind: 'failed', count: day.failed },
      { kind: 'missed', count: day.slots.missed },
      { kind: 'unseen', count: day.slots.unseen },
    ],
    rate: day.successRate === null ? '-' : percentText(day.successRate).replace(/(\.0)? %$/, ''),
    isRecorded: day.recorded,
    isBelow: day.verdict === 'belowTarget' || day.verdict === 'failed',
  }));
}

/** What a series says, as the title of its chart: `11 of 13 runs succeeded in 14 days (84.6 %)`. */
export function daysTitle({ items: days }: Series): string {
  const items = days.filter(({ recorded }) => recorded);
  const sum = (of: (day: SeriesDay) => number): number => items.reduce((total, day) => total + of(day), 0);
  const runs = sum((day) => day.runs);
  const success = sum((day) => day.success);
  const missed = sum((day) => day.slots.missed);
  const missedText = missed === 0 ? '' : `, ${countText(missed)} missed`;
  if (runs === 0) return `No scheduled run in ${plural(items.length, 'day')}${missedText}`;
  const rate = percentText((100 * success) / runs);
  return `${countText(success)} of ${plural(runs, 'run')} succeeded in ${plural(items.length, 'day')} (${rate})${missedText}`;
}

/** `3 of 14 days are below the target of 95 %`. */
export function rateTitle({ items, target }: Series): string {
  const ran = items.filter(({ successRate }) => successRate !== null);
  const below = ran.filter(({ verdict }) => verdict === 'belowTarget' || verdict === 'failed').length;
  const of = `the target of ${target === null ? 'none' : targetText(target)}`;
  return below === 0
    ? `No day is below ${of}`
    : `${countText(below)} of ${plural(ran.length, 'day')} ${below === 1 ? 'is' : 'are'} below ${of}`;
}

/** One day, said aloud. */
export function dayText(day: SeriesDay): string {
  if (!day.recorded) return `${day.date}: not recorded`;
  const parts = [
    day.success > 0 ? `${countText(day.success)} succeeded` : undefined,
    day.failed > 0 ? `${countText(day.failed)} failed` : undefined,
    day.slots.missed > 0 ? `${countText(day.slots.missed)} missed` : undefined,
    day.slots.skipped > 0 ? `${countText(day.slots.skipped)} skipped` : undefined,
    day.slots.unseen > 0 ? `${countText(day.slots.unseen)} not seen` : undefined,
    day.other > 0 ? `${countText(day.other)} ended otherwise` : undefined,
    day.manual > 0 ? `${countText(day.manual)} by hand` : undefined,
  ].filter((part) => part !== undefined);
  return `${day.date}: ${parts.length === 0 ? 'no run' : parts.join(', ')}${day.successRate === null ? '' : ` (${percentText(day.successRate)})`}`;
}

/** Days since figures are kept, each with what the service says of it. */
export function dayCells({ items }: Series): DayCell[] {
  return items.filter(({ recorded }) => recorded).map(({ date, verdict }) => ({ date, kind: verdict }));
}

export const dayVerdictWords: Readonly<Record<DayVerdict, string>> = {
  succeeded: 'All succeeded',
  someFailed: 'Some failed',
  belowTarget: 'Below target',
  failed: 'All failed',
  noRun: 'No run',
  notRecorded: 'Not recorded',
};
