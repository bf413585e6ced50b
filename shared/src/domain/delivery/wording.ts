import { spanInWords, durationInWords } from '../../contract/index.ts';
import type { BrokenAssertion } from '../detect/output.ts';
import { durationFact } from '../execution/output-facts.ts';
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

/** 1st, 2nd, 3rd, 11th, 21st */
export function ordinal(count: number): string {
  const tens = count % 100;
  if (tens >= 11 && tens <= 13) return `${count}th`;
  return `${count}${['th', 'st', 'nd', 'rd'][count % 10] ?? 'th'}`;
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

/** `2026-11-21 02:00 Europe/Berlin`, or `between … and …` when the service did not see it go; empty: nothing is known. */
export function deletionInWords(
  absence: { readonly deletedFromAt: Instant | undefined; readonly deletedUntilAt: Instant | undefined } | undefined,
  timeZone: string,
): string {
  if (absence?.deletedUntilAt === undefined) return '';
  const until = toLocalTime(absence.deletedUntilAt, timeZone);
  const end = `${until.date} ${until.time} ${until.zone}`;
  const { deletedFromAt = absence.deletedUntilAt } = absence;
  if (deletedFromAt === absence.deletedUntilAt) return end;
  const from = toLocalTime(deletedFromAt, timeZone);
  return `between ${from.date} ${from.time} and ${end}`;
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

/** A fact as people read it: `1,200,000`; those named seconds as a span of time. */
function factInWords(fact: string, value: number): string {
  if (fact === durationFact) return spanInWords(value);
  const digits = Math.abs(value) >= 1 ? { maximumFractionDigits: 3 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString('en-US', digits);
}

const boundWords: Readonly<Record<string, (limit: string) => string>> = {
  minimum: (limit) => `minimum ${limit}`,
  maximum: (limit) => `maximum ${limit}`,
  drop: (limit) => `minimum ${limit} by the runs before`,
};

/** What a run breaks of what its output must be: `rows 0 (minimum 1), bytes missing`. Of many the first five. */
export function outputInWords(detail: Readonly<Record<string, unknown>>): string {
  // Written by the detector; what is stored of it came back from the database.
  const broken = Array.isArray(detail['broken']) ? (detail['broken'] as readonly Partial<BrokenAssertion>[]) : [];
  const said = broken.slice(0, 5).map(({ fact = 'a fact', value, limit, by = '' }) => {
    if (value === undefined) return `${fact} missing`;
    const bound = limit === undefined ? undefined : boundWords[by]?.(factInWords(fact, limit));
    return `${fact} ${factInWords(fact, value)}${bound === undefined ? '' : ` (${bound})`}`;
  });
  return said.join(', ') + (broken.length > said.length ? ` and ${broken.length - said.length} more` : '');
}
