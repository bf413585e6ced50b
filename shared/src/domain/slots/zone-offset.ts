import type { Schedule } from '../schedule/index.ts';
import type { Instant } from '../instant.ts';
import { understood } from './expected.ts';

/** A start by a schedule that names no zone, and so is read in that of kube-controller-manager. */
export interface ZonelessStart {
  readonly schedule: string;
  readonly slotAt: Instant;
}

/**
 * How far kube-controller-manager's zone seems to lie from the one we were told. Starts that fit several offsets say nothing between
 * them: an hourly schedule knows no hours.
 */
export interface ZoneTally {
  /** Adopted offset of its slots from ours, milliseconds; 0: none. */
  readonly offsetMs: number;
  /** Starts in a row that fit an offset and not the adopted one, by offset. */
  readonly inRow: Readonly<Record<string, number>>;
}

export const noOffset: ZoneTally = { offsetMs: 0, inRow: {} };

const quarterMs = 15 * 60_000;
/** Zones of the world lie at most so far apart. */
const mostQuarters = 26 * 4;
/** So many starts in a row at one offset: no chance, and no edit that looked back. */
const enoughInRow = 5;

/** The tally after one more start. */
export function tallyZone(tally: ZoneTally, start: ZonelessStart, zone: string): ZoneTally {
  const schedule = understood(start.schedule);
  // Intervals know no zone, and a text with a zone of its own, or with TZ anywhere, is not read in the default one.
  if (schedule?.kind !== 'cron' || start.schedule.includes('TZ')) return tally;
  const fits = (offsetMs: number): boolean => isSlot(schedule, start.slotAt - offsetMs, zone);
  if (fits(tally.offsetMs)) {
    const left = Object.entries(tally.inRow).filter(([offset]) => fits(Number(offset)));
    return left.length === Object.keys(tally.inRow).length ? tally : { ...tally, inRow: Object.fromEntries(left) };
  }
  const inRow: Record<string, number> = {};
  for (let quarters = -mostQuarters; quarters <= mostQuarters; quarters++) {
    const offsetMs = quarters * quarterMs;
    if (fits(offsetMs)) inRow[offsetMs] = (tally.inRow[offsetMs] ?? 0) + 1;
  }
  const found = Object.keys(inRow)
    .filter((offset) => (inRow[offset] ?? 0) >= enoughInRow)
    .map(Number)
    .sort((a, b) => Math.abs(a) - Math.abs(b))[0];
  return found === undefined ? { ...tally, inRow } : { offsetMs: found, inRow: {} };
}

function isSlot(schedule: Schedule, at: Instant, zone: string): boolean {
  try {
    return schedule.next(at - 1, zone) === at;
  } catch {
    return true; // an unknown zone of our own configuration: nothing can be told
  }
}
