import { spanInWords } from '@cronjob-monitor/shared/contract';
import type { Viewer } from './viewer.ts';

/** An instant in a zone: `2026-11-21 02:00:03`. The zone is named once per view, not here. */
export function timeText(at: string | number, timeZone: string): string {
  const parts = partsOf(at, timeZone);
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
}

/** To the minute, for runs that are known by it: `2026-11-21 02:00`. */
export function minuteText(at: string | number, timeZone: string): string {
  return timeText(at, timeZone).slice(0, 16);
}

/** The clock alone: `02:00:03`. */
export function clockText(at: string | number, timeZone: string): string {
  return timeText(at, timeZone).slice(11);
}

/** The calendar day in a zone: `2026-11-21`. */
export function dayText(at: string | number, timeZone: string): string {
  return timeText(at, timeZone).slice(0, 10);
}

/** As short as it can be told today: the clock alone, or the day and the clock. */
export function shortTimeText(at: string | number, timeZone: string, nowMs: number): string {
  const parts = partsOf(at, timeZone);
  const clock = `${parts.hour}:${parts.minute}`;
  return dayText(at, timeZone) === dayText(nowMs, timeZone) ? clock : `${shortDay(parts)} ${clock}`;
}

/** A day of a UTC axis: `21 Nov`. */
export function shortDayText(at: string | number, timeZone: string): string {
  return shortDay(partsOf(at, timeZone));
}

/** The weekday and the clock, for what lies within a week: `Tue 02:00`. */
export function weekdayText(at: string | number, timeZone: string): string {
  const parts = partsOf(at, timeZone);
  const noon = Date.parse(`${parts.year}-${parts.month}-${parts.day}T12:00:00Z`);
  return `${weekdays[new Date(noon).getUTCDay()] ?? ''} ${parts.hour}:${parts.minute}`;
}

/** How long ago, or in how long: `4 h ago`, `in 6 h 12 min`, `now`. */
export function relativeText(at: string | number, nowMs: number): string {
  const seconds = (msOf(at) - nowMs) / 1000;
  if (Math.abs(seconds) < 1) return 'now';
  return seconds > 0 ? `in ${spanInWords(seconds)}` : `${spanInWords(-seconds)} ago`;
}

/** A span that still grows, without units that say nothing: `3 h`, `4 min`. */
export function ageText(sinceAt: string | number, nowMs: number): string {
  return spanInWords(Math.max(0, nowMs - msOf(sinceAt)) / 1000);
}

/** As `relativeText`, and the instant itself: `in 6 h (2026-11-22 02:00)`. */
export function bothTimes(at: string | number, viewer: Viewer): string {
  return `${relativeText(at, viewer.nowMs)} (${minuteText(at, viewer.timeZone)})`;
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const formats = new Map<string, Intl.DateTimeFormat>();

type Parts = Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', string>>;

function shortDay(parts: Parts): string {
  return `${Number(parts.day)} ${monthNames[Number(parts.month) - 1] ?? ''}`;
}

function partsOf(at: string | number, timeZone: string): Parts {
  const ms = msOf(at);
  if (Number.isNaN(ms)) return { year: '????', month: '??', day: '??', hour: '??', minute: '??', second: '??' };
  // UTC is what most people read most of the time, and needs no calendar.
  if (timeZone === 'UTC') {
    const [date = '', clock = ''] = new Date(ms).toISOString().split('T');
    const [year = '', month = '', day = ''] = date.split('-');
    return { year, month, day, hour: clock.slice(0, 2), minute: clock.slice(3, 5), second: clock.slice(6, 8) };
  }
  return Object.fromEntries(
    formatIn(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  ) as Parts; // the six parts that the format asks for
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(timeZone, format);
  }
  return format;
}

/** Whether this browser knows a zone: one it does not know cannot be shown in. */
export function isKnownZone(timeZone: string): boolean {
  try {
    return formatIn(timeZone) !== undefined;
  } catch {
    return false; // a RangeError: no such zone here
  }
}

export function msOf(at: string | number): number {
  return typeof at === 'number' ? at : Date.parse(at);
}
