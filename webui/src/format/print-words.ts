import { printInstants, type Words } from '@cronjob-monitor/shared/contract';
import { clockText, dayText, minuteText, relativeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** Prints the instants that stand in a sentence of the service, by its clock and in the zone of the view; all else stays as it is. */
export function printWords(words: Words, viewer: Viewer): string {
  return printInstants(words, viewer.nowMs, (form, at) =>
    form === 'at' ? timeAt(at, viewer) : relativeText(at, viewer.nowMs),
  );
}

/** The clock alone today, else with its date. */
function timeAt(at: number, { nowMs, timeZone }: Viewer): string {
  const isToday = dayText(at, timeZone) === dayText(nowMs, timeZone);
  return isToday ? clockText(at, timeZone).slice(0, 5) : minuteText(at, timeZone);
}
