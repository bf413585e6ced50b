import type { Instant } from '../instant.ts';
import { parse, type Schedule } from './occurrences.ts';
import { ScheduleError } from './fields.ts';
import { getZone, type Zone } from './zone.ts';
import { dayMs, hourMs } from '../duration.ts';

/** How a schedule comes round: what can be told of it from its next slots. */
export interface Rhythm {
  readonly kind: 'cron' | 'every';
  /** Between two of the next 500 slots, at most five years ahead: the longest wait, and the usual one (their median). */
  readonly largestGapMs: number;
  readonly usualGapMs: number;
  /** The text has a `TZ=` or `CRON_TZ=` of its own. */
  readonly hasZonePrefix: boolean;
  /** A slot of the coming year lies where the clocks skip an hour or have it twice. Never of what comes at least hourly. */
  readonly meetsClockChange: boolean;
}

export type RhythmProblem = 'ScheduleInvalid' | 'ZoneUnknown' | 'ScheduleNeverFires';

const mostSlots = 500;
const yearMs = 365 * dayMs;
const zonePrefix = /^(?:TZ|CRON_TZ)=\S*\s+/;

/** Looks at the next slots of a schedule in a zone. It costs some milliseconds: keep the answer, it hardly changes within a day. */
export function rhythmOf(text: string, zone: string, now: Instant): Rhythm | RhythmProblem {
  try {
    const schedule = parse(text);
    const slots = slotsOf(schedule, zone, now);
    const gaps = slots.slice(1).map((slot, index) => slot - (slots[index] ?? slot));
    if (slots.length === 0) return 'ScheduleNeverFires';
    const usualGapMs = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? Infinity;
    return {
      kind: schedule.kind,
      largestGapMs: gaps.length === 0 ? Infinity : Math.max(...gaps),
      usualGapMs,
      hasZonePrefix: zonePrefix.test(text),
      meetsClockChange:
        schedule.kind === 'cron' && usualGapMs > hourMs && meetsChange(text, getZone(schedule.zone ?? zone), now),
    };
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return error.code === 'zone' ? 'ZoneUnknown' : 'ScheduleInvalid';
  }
}

/** A rare schedule has few slots in five years: then the one after them is asked for besides. */
function slotsOf(schedule: Schedule, zone: string, now: Instant): Instant[] {
  if (schedule.kind === 'every') {
    const first = schedule.next(now, zone);
    const second = first === null ? null : schedule.next(first, zone);
    return [first, second].filter((slot) => slot !== null);
  }
  const slots = schedule.between(now, now + 5 * yearMs, zone, mostSlots + 1);
  while (slots.length < 2) {
    const next = schedule.next(slots.at(-1) ?? now, zone);
    if (next === null) return slots;
    slots.push(next);
  }
  return slots;
}

/**
 * Wall clocks read as if they were UTC: at a change they jump from one reading to another, and the readings between are those that never
 * come, or come twice. The fields of a schedule speak of readings, so in UTC it says which of them it means.
 */
function meetsChange(text: string, zone: Zone, now: Instant): boolean {
  const onTheWall = parse(text.replace(zonePrefix, ''));
  return changesOf(zone, now, now + yearMs).some(({ fromAt, toAt }) => {
    const next = onTheWall.next(fromAt - 1, 'UTC');
    return next !== null && next < toAt;
  });
}

/** The readings, as UTC instants, that each change of the zone skips or repeats. */
function changesOf(zone: Zone, from: Instant, to: Instant): { fromAt: Instant; toAt: Instant }[] {
  const changes: { fromAt: Instant; toAt: Instant }[] = [];
  const offsetAt = (at: Instant): number => zone.offsetAt(Math.floor(at / 1000)) * 1000;
  for (let before = from; before < to; before += dayMs) {
    const [earlier, later] = [offsetAt(before), offsetAt(before + dayMs)];
    if (earlier === later) continue;
    let [low, high] = [before, before + dayMs];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (offsetAt(middle) === earlier) low = middle;
      else high = middle;
    }
    changes.push({ fromAt: high + Math.min(earlier, later), toAt: high + Math.max(earlier, later) });
  }
  return changes;
}
