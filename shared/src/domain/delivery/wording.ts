import type { Words } from '../../contract/index.ts';
import { durationInWords, durationUnits, spanInWords } from '../../contract/wording.ts';
import { getZone } from '../schedule/zone.ts';
import { isZoneName } from '../schedule/zone-names.ts';
import { WallClock } from '../schedule/wall-clock.ts';
import type { Instant } from '../instant.ts';

export { spanInWords };

/** What was measured against a limit: with its seconds where it would read like the limit without them. */
export function measuredInWords(measured: number, limit: number | undefined): string {
  const words = spanInWords(measured);
  const readsAlike = limit !== undefined && measured !== limit && words === spanInWords(limit);
  return readsAlike ? durationInWords(measured) : words;
}

/** A limit in the largest unit that divides it evenly, as people write it: `25 h`, `45 min`, but `6 min 54 s` and `1 h 40 min`; days from two on. */
export function limitInWords(seconds: number): string {
  const unit = durationUnits.find(
    ({ word, seconds: size }) => seconds >= size && seconds % size === 0 && (word !== 'd' || seconds >= 2 * size),
  );
  if (!unit) return durationInWords(seconds);
  const count = seconds / unit.seconds;
  const isOdd = (unit.word === 's' && count >= 120) || (unit.word === 'min' && count > 90);
  return isOdd || count > 999 ? durationInWords(seconds) : `${count} ${unit.word}`;
}

/** A rate cut to one decimal, so that one below its minimum never reads like the minimum; 0.0 only if nothing succeeded. */
export function rateInWords(percent: number): string {
  const cut = Math.floor(percent * 10 + 1e-9) / 10;
  return `${(cut <= 0 && percent > 0 ? 0.1 : cut).toFixed(1)} %`;
}

/** An instant in a sentence, for who shows it to print by the server's clock. */
export function instantIn(form: 'age' | 'ago' | 'in' | 'at', at: Instant): Words {
  return `{${form}:${new Date(at).toISOString()}}`;
}

/** `1 run`, `3 runs` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

interface LocalTime {
  /** `2026-11-21` */
  readonly date: string;
  /** `02:00` */
  readonly time: string;
  /** The zone it is in: UTC where the asked one does not exist. */
  readonly zone: string;
}

/** `02:00`, with its date where that is another one than the day that is spoken of. */
export function timeOn(day: string, at: Instant, timeZone: string): string {
  const { date, time } = toLocalTime(at, timeZone);
  return date === day ? time : `${date} ${time}`;
}

/** An instant on the clock of a zone; where that clock is set back it shows a time twice, and the offset says which: `02:00+01:00`. */
export function toLocalTime(at: Instant, timeZone: string): LocalTime {
  const zone = getZone(isZoneName(timeZone) ? timeZone : 'UTC');
  const clock = new WallClock(zone, Math.floor(at / 1_000));
  return {
    date: `${clock.year}-${two(clock.month)}-${two(clock.day)}`,
    time: `${two(clock.hour)}:${two(clock.minute)}${isShownTwice(clock) ? offsetInWords(zone.offsetAt(clock.at)) : ''}`,
    zone: zone.name,
  };
}

/** No clock is set back by more than a day, and none twice within two. */
function isShownTwice({ at, zone }: WallClock): boolean {
  const offset = zone.offsetAt(at);
  return [at - 86_400, at + 86_400].some((near) => {
    const other = zone.offsetAt(near);
    return other !== offset && zone.offsetAt(at + offset - other) === other;
  });
}

function offsetInWords(seconds: number): string {
  const minutes = Math.round(Math.abs(seconds) / 60);
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
