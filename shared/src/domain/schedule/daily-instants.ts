import type { Instant } from '../instant.ts';
import { getZone, type Zone } from './zone.ts';

const daySeconds = 86_400;

/** The wall time `HH:MM` of every day in a zone, as instants: the last at or before `at`, and the two around it. */
interface DailyInstants {
  readonly beforeLastAt: Instant;
  readonly lastAt: Instant;
  readonly nextAt: Instant;
}

/**
 * When a clock in the zone showed `time` (`HH:MM`) last, the day before, and when it does next. A time that a clock change leaves out
 * is the first instant after the gap; one that comes twice is the first (detection.md section 3.4).
 *
 * @throws ScheduleError `zone`
 */
export function dailyInstants(time: string, zoneName: string, at: Instant): DailyInstants {
  const zone = getZone(zoneName);
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const ofDay = (day: number): Instant => 1_000 * instantOf(zone, day * daySeconds + hours * 3_600 + minutes * 60);
  const second = Math.floor(at / 1_000);
  let day = Math.floor((second + zone.offsetAt(second)) / daySeconds) + 1;
  while (ofDay(day) > at) day--;
  return { beforeLastAt: ofDay(day - 1), lastAt: ofDay(day), nextAt: ofDay(day + 1) };
}

/**
 * When a day, as `YYYY-MM-DD`, begins in a zone.
 *
 * @throws ScheduleError `zone`
 */
export function dayBegins(date: string, zoneName: string): Instant {
  return 1_000 * instantOf(getZone(zoneName), Date.parse(`${date}T00:00:00Z`) / 1_000);
}

/** Seconds since 1970 of a wall time that is given as if the zone were UTC. */
function instantOf(zone: Zone, wall: number): number {
  const offsets = [zone.offsetAt(wall - daySeconds), zone.offsetAt(wall + daySeconds)];
  const shown = offsets.map((offset) => wall - offset).filter((second) => second + zone.offsetAt(second) === wall);
  if (shown.length > 0) return Math.min(...shown);
  let before = wall - Math.max(...offsets);
  let after = wall - Math.min(...offsets);
  const old = zone.offsetAt(before);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (zone.offsetAt(middle) === old) before = middle;
    else after = middle;
  }
  return after;
}
