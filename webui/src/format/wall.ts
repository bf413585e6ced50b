import type { Wall, WallCell } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { countText, plural } from './figures.ts';
import { printWords } from './print-words.ts';
import { minuteText, weekdayText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What a column is called where it stands for a point in time: `half hour`. */
function columnWord(stepSeconds: number): string {
  return stepSeconds === 1_800 ? 'half hour' : stepSeconds === 3_600 ? 'hour' : durationText(stepSeconds);
}

/** The column in which most start, the last of several; undefined: none starts. */
export function busiestOf(starts: readonly number[]): number | undefined {
  const most = Math.max(0, ...starts);
  return most === 0 ? undefined : starts.lastIndexOf(most);
}

/** `40 CronJobs, worst first. Tue 02:00 is the busiest half hour: 13 starts`. */
export function wallTitle({ columns, starts, stepSeconds, pagination }: Wall, viewer: Viewer): string {
  const column = busiestOf(starts);
  const busiest = column === undefined ? undefined : columns[column];
  const head = plural(pagination.total, 'CronJob');
  if (column === undefined || busiest === undefined) return `${head}. No single start in this time`;
  if (starts[column] === 1) return `${head}. No two start in the same ${columnWord(stepSeconds)}`;
  return `${head}. ${weekdayText(busiest, viewer.timeZone)} is the busiest ${columnWord(stepSeconds)}: ${startsWord(starts[column] ?? 0)}`;
}

/** A column, from its beginning: `2026-11-21 19:00, 30 min`. */
export function columnText(
  { columns, stepSeconds }: Pick<Wall, 'columns' | 'stepSeconds'>,
  column: number,
  viewer: Viewer,
): string {
  const at = columns[column];
  return at === undefined ? '' : `${minuteText(at, viewer.timeZone)}, ${durationText(stepSeconds)}`;
}

/** What a cell says: the words of the service, or why there are none, and what holds its messages back. */
export function cellText(
  cell: WallCell | undefined,
  { isRecorded, held }: { readonly isRecorded: boolean; readonly held: string | undefined },
  viewer: Viewer,
): string {
  const says = cell ? printWords(cell.words, viewer) : isRecorded ? 'no run' : 'not recorded';
  return held === undefined ? says : `${says}. ${printWords(held, viewer)}`;
}

/** `13 starts`, of a column. */
export function startsWord(count: number): string {
  return count === 1 ? '1 start' : `${countText(count)} starts`;
}
