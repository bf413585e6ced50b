import type { Instant } from '../instant.ts';
import { minuteMs, hourMs } from '../duration.ts';

/** Clocks move by at most so much at once, and not twice within it. */
export const nearMs = 3 * hourMs;
/** Two looks so far apart miss no change. */
const lookMs = 12 * hourMs;

/** What the clocks of one zone show. */
export interface ZoneClock {
  /** Milliseconds that wall clocks are ahead of UTC. */
  offsetAt(at: Instant): number;
  /** `2026-11-22T02:30:00+01:00`. */
  localText(at: Instant): string;
  /** The wall time at `at` comes twice. */
  isRepeated(at: Instant): boolean;
  /** Wall times that never come in (from, to]: clocks jump from `from` on by `byMs`. Read as if they were UTC. */
  gaps(from: Instant, to: Instant): readonly { readonly from: Instant; readonly byMs: number }[];
}

/** Throws RangeError for a zone that is not in the time zone database. */
export function createZoneClock(zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const offsets = new Map<Instant, number>();
  /** Offsets hold for a minute at least. */
  const offsetAt = (at: Instant): number => {
    const minute = Math.floor(at / minuteMs) * minuteMs;
    const offset = offsets.get(minute) ?? readOffset(format, minute);
    offsets.set(minute, offset);
    return offset;
  };

  return {
    offsetAt,
    localText(at) {
      const offset = offsetAt(at);
      const text = new Date(at + offset).toISOString().slice(0, 19);
      const minutes = Math.abs(offset) / minuteMs;
      const sign = offset < 0 ? '-' : '+';
      return `${text}${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
    },
    isRepeated(at) {
      const offset = offsetAt(at);
      return [at - nearMs, at + nearMs].some((near) => {
        const other = offsetAt(near);
        return other !== offset && offsetAt(at + offset - other) === other;
      });
    },
    gaps(from, to) {
      const gaps: { from: Instant; byMs: number }[] = [];
      for (let at = from; at < to; at += lookMs) {
        const next = Math.min(at + lookMs, to);
        const byMs = offsetAt(next) - offsetAt(at);
        if (byMs > 0) gaps.push({ from: firstWith(offsetAt, at, next) + offsetAt(at), byMs });
      }
      return gaps;
    },
  };
}

/** The minute from which the offset is that of `to`. */
function firstWith(offsetAt: (at: Instant) => number, from: Instant, to: Instant): Instant {
  let [before, after] = [from, to];
  while (after - before > minuteMs) {
    const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs;
    if (offsetAt(middle) === offsetAt(to)) after = middle;
    else before = middle;
  }
  return Math.floor(after / minuteMs) * minuteMs;
}

function readOffset(format: Intl.DateTimeFormat, at: Instant): number {
  const part = format.formatToParts(at).find(({ type }) => type === 'timeZoneName');
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))/.exec(part?.value ?? '') ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minuteMs;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
