import { clockText, dayText, minuteText } from './time.ts';
import type { Viewer } from './viewer.ts';

const hourMs = 3_600_000;
const shownHours = 24;
const asOfNow = 'now';

/** Instants that can be asked about: now, and each full hour of the next day in the zone of the view. */
export function hoursAhead({ nowMs, timeZone }: Viewer): { readonly value: string; readonly word: string }[] {
  const minutes = Number(clockText(nowMs, timeZone).slice(3, 5));
  const firstMs = nowMs - (nowMs % 60_000) + (60 - minutes) * 60_000;
  const hours = Array.from({ length: shownHours }, (_, index) => {
    const at = firstMs + index * hourMs;
    const isToday = dayText(at, timeZone) === dayText(nowMs, timeZone);
    const word = isToday ? clockText(at, timeZone).slice(0, 5) : minuteText(at, timeZone);
    return { value: new Date(at).toISOString(), word };
  });
  return [{ value: asOfNow, word: 'Now' }, ...hours];
}
