import type { Instant } from '@cronjob-monitor/shared/domain';

/** What a caller may write where an instant is asked for. */
export const instantForms = 'RFC 3339 such as 2026-11-21T06:52:00Z, or a date';

type InstantReading = { readonly at: Instant } | { readonly problem: string };

const form = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2}))?$/;
const lostPlus = /^\d{4}-\d{2}-\d{2}[Tt][\d:.]+ \d{2}:\d{2}$/;

/**
 * Reads RFC 3339 with `Z` or an offset, or a date, which is its beginning in UTC. A `+` that was not encoded arrives as a
 * blank: the answer says so instead of guessing.
 */
export function readInstant(text: string): InstantReading {
  if (lostPlus.test(text)) return { problem: 'the + of the offset was lost on the way: write it as %2B' };
  const parts = form.exec(text);
  if (!parts) return { problem: 'must be an instant' };
  const [, year, month, day, hour, minute, second, fraction, offset] = parts;
  const local = new Date(0);
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const sameDay = local.getUTCMonth() === Number(month) - 1 && local.getUTCDate() === Number(day);
  const offsetMs = toOffsetMs(offset);
  if (!sameDay || offsetMs === undefined || Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59) {
    return { problem: 'is no instant of the calendar' };
  }
  if (Number(second ?? 0) > 59) return { problem: 'is no instant of the calendar' };
  const milliseconds = Number((fraction ?? '').slice(0, 3).padEnd(3, '0'));
  const clock = ((Number(hour ?? 0) * 60 + Number(minute ?? 0)) * 60 + Number(second ?? 0)) * 1000 + milliseconds;
  return { at: local.getTime() + clock - offsetMs };
}

/** Undefined when it is none. Absent is UTC. */
function toOffsetMs(offset: string | undefined): number | undefined {
  if (offset === undefined || offset.toUpperCase() === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
