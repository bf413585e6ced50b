import type { Instant } from './instant.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Days since 1970 of an instant, UTC. */
export function dayOf(at: Instant): number {
  return Math.floor(at / dayMs);
}

/** The instant a UTC day begins. */
export function startOfDay(day: number): Instant {
  return day * dayMs;
}

/** One nanosecond count per unit that Go's `time.ParseDuration` knows. */
const goUnits: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // micro sign
  ['\u03bcs', 1_000n], // Greek mu
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

/** The units of configuration keys and resource fields: Go's, a day of 24 hours and a week of 7 such days. */
const ownUnits: ReadonlyMap<string, bigint> = new Map([
  ...goUnits,
  ['d', 86_400_000_000_000n],
  ['w', 604_800_000_000_000n],
]);

/** Go holds a duration in 64 signed bits of nanoseconds: about 292 years. */
const limit = 1n << 63n;

/** The text of a duration field of CronJobMonitor and AlertChannel, also the `pattern` of their schemas. */
export const resourceDurationPattern = '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+$';

/** The longest text of a duration field of our resources, in characters. */
export const resourceDurationMaxLength = 32;

const resourceDuration = new RegExp(resourceDurationPattern);

/**
 * Reads a duration as Go's `time.ParseDuration` does, sign, `.5h` and bare `0` included.
 *
 * @returns nanoseconds, or undefined for exactly the texts that Go rejects
 */
export function parseGoDuration(text: string): bigint | undefined {
  return parseNanoseconds(text, goUnits);
}

/**
 * Reads a duration of the configuration or of a request: Go's syntax plus `d` (24 h) and `w` (7 d). Go's sign and its bare
 * `0` are left out, since no setting takes either. Bounds, and whether zero is allowed, are the business of the key.
 *
 * @returns milliseconds, with a fraction for finer units, or undefined when the text is no duration or passes 292 years
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0' || /^[+-]/.test(text)) return undefined;
  const nanoseconds = parseNanoseconds(text, ownUnits);
  if (nanoseconds === undefined) return undefined;
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
}

/**
 * Reads a duration field of our resources: no sign, every number with a unit, at most 32 characters. Zero is returned
 * as 0; the field says whether it is allowed.
 *
 * @returns milliseconds, or undefined when the text is no such duration
 */
export function parseResourceDuration(text: string): number | undefined {
  if (text.length > resourceDurationMaxLength || !resourceDuration.test(text)) return undefined;
  return parseDuration(text);
}

/**
 * Go's own text of a duration, as `time.Duration.String` writes it: `2m41s`, `3h0m0s`, `1.5s`, `250ms`, `0s`. Hours are
 * the largest unit. Below a millisecond it is cut; a negative one has a sign.
 *
 * @param ms milliseconds, finite
 */
export function formatDuration(ms: number): string {
  const total = Math.trunc(Math.abs(ms));
  const sign = ms < 0 && total > 0 ? '-' : '';
  if (total === 0) return '0s';
  if (total < 1_000) return `${sign}${total}ms`;
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor(total / 60_000) % 60;
  const seconds = `${(total % 60_000) / 1_000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : sign + seconds;
}

/** A number with its unit; what follows the number up to the next digit or dot is the unit, as in Go. */
const term = /([0-9]*)(?:(\.)([0-9]*))?([^0-9.]+)/y;

function parseNanoseconds(text: string, units: ReadonlyMap<string, bigint>): bigint | undefined {
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0n;
  if (body === '') return undefined;

  let sum = 0n;
  for (let at = 0; at < body.length; at = term.lastIndex) {
    term.lastIndex = at;
    const match = term.exec(body);
    if (!match) return undefined;
    const value = parseTerm(match[1] ?? '', match[3] ?? '', units.get(match[4] ?? ''));
    if (value === undefined) return undefined;
    sum = BigInt.asUintN(64, sum + value); // Go adds without a carry: twice the limit is zero again
    if (sum > limit) return undefined;
  }
  if (negative) return -sum;
  return sum === limit ? undefined : sum;
}

/** Nanoseconds of `whole.fraction` units; the fraction is rounded towards zero through a float, as Go does it. */
function parseTerm(whole: string, fraction: string, unit: bigint | undefined): bigint | undefined {
  if (unit === undefined || (whole === '' && fraction === '')) return undefined;
  const count = whole === '' ? 0n : BigInt(whole);
  if (count > limit / unit) return undefined;
  const { digits, scale } = leadingFraction(fraction);
  const parts = BigInt(Math.trunc(Number(digits) * (Number(unit) / scale)));
  const value = count * unit + parts;
  return value > limit ? undefined : value;
}

/** The digits after the point that fit 63 bits; further ones are read and ignored. */
function leadingFraction(text: string): { digits: bigint; scale: number } {
  let digits = 0n;
  let scale = 1;
  for (const character of text) {
    if (digits > (limit - 1n) / 10n) break;
    const next = digits * 10n + BigInt(character);
    if (next > limit) break;
    digits = next;
    scale *= 10;
  }
  return { digits, scale };
}
