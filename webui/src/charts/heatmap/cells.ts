import type { DayVerdict } from '@cronjob-monitor/shared/contract';

export interface DayCell {
  /** `2026-11-20`, a UTC day. */
  readonly date: string;
  readonly kind: DayVerdict;
}

interface LaidCells {
  /** Columns, with room for the name of the last month. */
  readonly weeks: number;
  /** Where each day stands: columns are weeks that begin on Monday. */
  readonly cells: readonly (DayCell & { readonly week: number; readonly weekday: number })[];
  /** Names of months over the week in which they begin. */
  readonly months: readonly { readonly name: string; readonly week: number }[];
  /** The last day of a column, for the pointer. */
  indexAt(week: number): number;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const dayMs = 86_400_000;

export function layCells(days: readonly DayCell[]): LaidCells {
  const first = Date.parse(`${days[0]?.date ?? '1970-01-01'}T00:00:00Z`);
  const offset = (new Date(first).getUTCDay() + 6) % 7; // Monday is the first row
  const cells = days.map((day) => {
    const place = Math.round((Date.parse(`${day.date}T00:00:00Z`) - first) / dayMs) + offset;
    return { ...day, week: Math.floor(place / 7), weekday: place % 7 };
  });
  const begins = cells.flatMap(({ date, week }, index) => {
    const isBegin = date.endsWith('-01') || index === 0;
    return isBegin ? [{ name: monthNames[Number(date.slice(5, 7)) - 1] ?? '', week }] : [];
  });
  // Two names side by side would run into each other.
  const months = begins.filter(({ week }, index) => (begins[index + 1]?.week ?? Infinity) - week >= 3);
  return {
    weeks: Math.max((cells.at(-1)?.week ?? 0) + 1, (months.at(-1)?.week ?? 0) + 2),
    cells,
    months,
    indexAt: (week) => cells.findLastIndex((cell) => cell.week <= week),
  };
}
