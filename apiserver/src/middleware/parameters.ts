import * as yup from 'yup';
import { maxLimit, maxOffset, type Ref } from '@cronjob-monitor/shared/contract';
import * as shapes from '@cronjob-monitor/shared/contract/shape';
import type { Shape } from '@cronjob-monitor/shared/contract/shape';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { isObjectId } from '../object-name.ts';

/** How one parameter of a query is read; absent optional ones are undefined. */
export type Parameter<T> = yup.Schema<T>;

/** `says` and `shape` are for the OpenAPI document, `allowed` is for the refusal. */
export interface ParameterMeta {
  readonly says: string;
  readonly shape: Shape;
  readonly allowed: string;
  readonly many?: boolean;
}

/** What a text turned out not to be. */
class Unreadable {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

type Reader<T> = (text: string) => T | Unreadable;

/** One value at most. */
function scalar<T>(meta: ParameterMeta, read: Reader<T>): Parameter<T | undefined> {
  return yup
    .mixed<T & {}>()
    .transform((_value: unknown, original: unknown) => (typeof original === 'string' ? read(original) : original))
    .test('readable', (value: unknown, context) =>
      value instanceof Unreadable ? context.createError({ message: value.problem }) : true,
    )
    .meta({ ...meta });
}

/** Comma-separated or repeated values; an empty list filters nothing. */
function list<T>(meta: ParameterMeta, read: Reader<T>): Parameter<readonly T[]> {
  return yup
    .mixed<readonly T[]>()
    .transform((_value: unknown, original: unknown) => {
      if (!Array.isArray(original)) return original;
      const values = (original as string[]).map(read);
      return values.find((value) => value instanceof Unreadable) ?? values;
    })
    .test('readable', (value: unknown, context) =>
      value instanceof Unreadable ? context.createError({ message: value.problem }) : true,
    )
    .default([])
    .meta({ ...meta, many: true }) as unknown as Parameter<readonly T[]>;
}

/** Exact names; one that nothing has matches nothing. */
export function names(says: string, most?: number): Parameter<readonly string[]> {
  return list({ says, shape: shapes.listOf(shapes.text, most), allowed: 'names' }, (text) => text);
}

/** CronJobs, as namespace/name; a value of another form is refused. */
export function refs(says: string, most?: number): Parameter<readonly string[]> {
  const shape = shapes.listOf(refShape, most);
  return list({ says, shape, allowed: 'namespace/name' }, (text) =>
    readRef(text) ? text : new Unreadable(`${quote(text)} is not namespace/name`),
  );
}

/** Ids of alerts, silences and the like; what is of another form is refused. */
export function objectIds(says: string): Parameter<readonly string[]> {
  return list({ says, shape: shapes.listOf(shapes.id), allowed: 'ids' }, (text) =>
    isObjectId(text) ? text : new Unreadable(`${quote(text)} is no id`),
  );
}

export function words<const Words extends readonly string[]>(
  says: string,
  all: Words,
): Parameter<readonly Words[number][]> {
  return list({ says, shape: shapes.listOf(shapes.words(all)), allowed: all.join(', ') }, readWord(all));
}

export function word<const Words extends readonly string[]>(
  says: string,
  all: Words,
): Parameter<Words[number] | undefined> {
  return scalar({ says, shape: shapes.words(all), allowed: all.join(', ') }, readWord(all));
}

function readWord<const Words extends readonly string[]>(all: Words): Reader<Words[number]> {
  return (text) => (all.includes(text) ? text : new Unreadable(`${quote(text)} is unknown`));
}

/** A part of a name, case ignored. */
export function search(says = 'A part of the name, case ignored.'): Parameter<string | undefined> {
  return text(says, 253);
}

/** A text of so many characters at most. */
export function text(says: string, most: number): Parameter<string | undefined> {
  return scalar({ says, shape: shapes.anyText(most), allowed: `at most ${most} characters` }, (value) =>
    value.length > most ? new Unreadable('is too long') : value,
  );
}

/** A name of any form: one that nothing has is answered by the route. */
export function name(says: string): Parameter<string | undefined> {
  return scalar({ says, shape: shapes.text, allowed: 'a name' }, (value) => value);
}

export function flag(says: string): Parameter<boolean | undefined> {
  return scalar({ says, shape: shapes.bool, allowed: 'true, false' }, (value) =>
    value === 'true' ? true : value === 'false' ? false : new Unreadable('must be true or false'),
  );
}

/** A whole number in decimal digits. Above `max` it is refused, or lowered to it. */
export function whole(
  says: string,
  { min, max, above }: { min: number; max: number; above?: 'lowered' },
): Parameter<number | undefined> {
  const isLowered = above === 'lowered';
  const allowed = isLowered ? `${min} or more` : `${min} to ${max}`;
  return scalar({ says, shape: shapes.wholeNumber(min, isLowered ? undefined : max), allowed }, (value) => {
    if (!/^-?[0-9]+$/.test(value)) return new Unreadable('must be a whole number');
    const number = Number(value);
    if (number < min) return new Unreadable(`must be at least ${min}`);
    if (number <= max) return number;
    return isLowered ? max : new Unreadable(`must be at most ${max}`);
  });
}

export const instantForms = 'RFC 3339 such as 2026-11-21T06:52:00Z, or a date';

const instantText = shapes.described(
  shapes.text,
  'RFC 3339 with Z or an offset, or a date, which begins at 00:00 UTC.',
);

export function instant(says: string): Parameter<Instant | undefined> {
  return scalar({ says, shape: instantText, allowed: instantForms }, (value) => {
    const reading = readInstant(value);
    return 'problem' in reading ? new Unreadable(reading.problem) : reading.at;
  });
}

/** Bounds of a list of runs. */
export const createdWithin = {
  since: instant('Inclusive; by the creation of the Job. Without it 30 days ago.'),
  until: instant('Exclusive; by the creation of the Job.'),
};

const refShape: Shape = { form: { kind: 'text', pattern: '^[^/]+/[^/]+$' } };

/** `namespace/name`. */
export function ref(says: string): Parameter<Ref | undefined> {
  return scalar(
    { says, shape: refShape, allowed: 'namespace/name' },
    (value) => readRef(value) ?? new Unreadable('must be namespace/name'),
  );
}

function readRef(text: string): Ref | undefined {
  const [namespace, name, more] = text.split('/');
  return namespace && name && more === undefined ? { namespace, name } : undefined;
}

export interface Sort<Key extends string> {
  readonly key: Key;
  readonly descending: boolean;
}

/** `key` rises, `-key` falls; `unless` is what the document says of the order without it, its key unless it is said. */
export function sort<const Keys extends readonly string[]>(
  keys: Keys,
  standard: Sort<Keys[number]>,
  unless = `${standard.descending ? '-' : ''}${standard.key}`,
): Parameter<Sort<Keys[number]>> {
  const directions = keys.flatMap((key) => [key, `-${key}`]);
  const says = `Rises; with a minus it falls. Without it ${unless}.`;
  return scalar<Sort<Keys[number]>>(
    { says, shape: shapes.words(directions), allowed: directions.join(', ') },
    (value) => {
      const descending = value.startsWith('-');
      const key = descending ? value.slice(1) : value;
      return keys.includes(key) ? { key, descending } : new Unreadable(`${quote(value)} is no key to sort by`);
    },
  ).default(standard);
}

/** What an item is ordered by; null: not known. */
type Rank = string | number | null;

/** Sorts in the order asked for, unknown values last in both directions; the first tie that differs orders equal items. */
export function orderBy<Key extends string, Item>(
  keys: Readonly<Record<Key, (item: Item) => Rank>>,
  { key, descending }: Sort<Key>,
  tiesOf: (item: Item) => readonly (string | number)[],
): (a: Item, b: Item) => number {
  return (a, b) => {
    const [left, right] = [keys[key](a), keys[key](b)];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
    } else if (left !== right) return left < right === descending ? 1 : -1;
    const others = tiesOf(b);
    for (const [at, tie] of tiesOf(a).entries()) if (tie !== others[at]) return tie < (others[at] ?? '') ? -1 : 1;
    return 0;
  };
}

/** `limit` of a paged list, of so many rows at most. */
export function limit(most: number): Parameter<number | undefined> {
  return whole(`Rows of a page; more than ${most} is lowered.`, { min: 1, max: most, above: 'lowered' });
}

export const paging = {
  limit: limit(maxLimit),
  offset: whole('Rows to pass over.', { min: 0, max: maxOffset }),
};

/** Parameters that many lists have. */
export const namespaces = names('Namespaces.');
export const jobUid = name('UID of the Job; without it the newest of that name.');
export const oneMonitor = ref('A monitor, as namespace/name.');

/** Quotes a value of the caller inside a sentence of the service. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** What a caller may write where an instant is asked for. */
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

/** Undefined: not a time zone. Absent means UTC. */
function toOffsetMs(offset: string | undefined): number | undefined {
  if (offset === undefined || offset.toUpperCase() === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
