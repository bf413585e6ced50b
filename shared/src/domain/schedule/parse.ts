import { parseGoDuration } from '../duration.ts';
import { type CronFields, parseFields, ScheduleError } from './fields.ts';
import { getZone } from './zone.ts';

/** A schedule as its text says it, before any instant is asked of it. */
type ParsedSchedule =
  | { readonly kind: 'cron'; readonly zone: string | null; readonly fields: CronFields }
  | { readonly kind: 'every'; readonly zone: string | null; readonly intervalSeconds: number };

/** What each descriptor stands for. They are matched exactly, in this spelling. */
const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const every = '@every ';

/** What Go takes for white space: Unicode's White_Space, which is neither `\s` nor what `trim` cuts. */
const blank = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const blanks = new RegExp(blank);
const outerBlanks = new RegExp(`^${blank}|${blank}$`, 'g');

/**
 * Reads a schedule as `ParseStandard` of robfig/cron v3 does (kubernetes.md 1.2).
 *
 * @throws ScheduleError `syntax` or `zone`, for exactly what `ParseStandard` rejects
 */
export function parseText(spec: string): ParsedSchedule {
  const { zone, text } = splitPrefix(spec);
  if (text.startsWith(every)) return { kind: 'every', zone, intervalSeconds: parseInterval(text) };
  if (text.startsWith('@')) {
    const meaning = descriptors.get(text);
    if (meaning === undefined) throw new ScheduleError('syntax', `unknown descriptor "${text}"`);
    return { kind: 'cron', zone, fields: parseFields(meaning.split(' ')) };
  }
  const texts = text.split(blanks).filter((field) => field !== '');
  return { kind: 'cron', zone, fields: parseFields(texts) };
}

/**
 * The zone that a CronJob states: that of its schedule, beside which `spec.timeZone` does not count, else `timeZone`. Undefined: it leaves the
 * zone to the cluster. Whether there is such a zone is not asked.
 */
export function statedZone(schedule: string, timeZone: string | undefined): string | undefined {
  const prefix = /^(?:CRON_)?TZ=([^ ]*) /.exec(schedule);
  if (prefix === null) return timeZone;
  return prefix[1] === 'Local' ? undefined : prefix[1] || 'UTC';
}

/** Cuts off `TZ=Zone ` or `CRON_TZ=Zone `; the text after it loses its outer blanks, a text without it keeps them. */
function splitPrefix(spec: string): { zone: string | null; text: string } {
  if (!spec.startsWith('TZ=') && !spec.startsWith('CRON_TZ=')) return { zone: null, text: spec };
  const end = spec.indexOf(' ');
  if (end < 0) throw new ScheduleError('syntax', 'a blank must follow the time zone');
  const name = spec.slice(spec.indexOf('=') + 1, end);
  const text = spec.slice(end).replace(outerBlanks, '');
  if (name === 'Local') return { zone: null, text }; // Go's name for the zone of the asking process
  return { zone: getZone(name).name, text };
}

/** Whole seconds: fractions are cut, less than a second is one second. */
function parseInterval(text: string): number {
  const nanoseconds = parseGoDuration(text.slice(every.length));
  if (nanoseconds === undefined) throw new ScheduleError('syntax', `"${text}" has no Go duration`);
  return Math.max(1, Number(nanoseconds / 1_000_000_000n));
}
