import type { Words } from '@cronjob-monitor/shared/contract';
import { ageText, clockText, dayText, minuteText, msOf, relativeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** Prints the instants that stand in a sentence of the service, by its clock and in the zone of the view; all else stays as it is. */
export function printWords(words: Words, viewer: Viewer): string {
  return words.replaceAll(/\{(age|ago|in|at):([^}]+)\}/g, (whole, form: string, at: string) => {
    if (Number.isNaN(msOf(at))) return whole;
    if (form === 'at') return timeAt(at, viewer);
    return form === 'age' ? ageText(at, viewer.nowMs) : relativeText(at, viewer.nowMs);
  });
}

/** The clock alone today, else with its date. */
function timeAt(at: string, { nowMs, timeZone }: Viewer): string {
  const isToday = dayText(at, timeZone) === dayText(nowMs, timeZone);
  return isToday ? clockText(at, timeZone).slice(0, 5) : minuteText(at, timeZone);
}
