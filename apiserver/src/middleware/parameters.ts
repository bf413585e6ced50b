import * as yup from 'yup';
import { maxLimit, maxOffset, type Ref } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { readInstant } from './instant.ts';

/** How one parameter of a query is read; absent optional ones are undefined. */
export type Parameter<T> = yup.Schema<T>;

/** What a text turned out not to be. */
class Unreadable {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

type Reader<T> = (text: string) => T | Unreadable;

/** One value at most. `allowed` is what the refusal tells the caller. */
function scalar<T>(read: Reader<T>, allowed: string): Parameter<T | undefined> {
  return yup
    .mixed<T & {}>()
    .transform((_value: unknown, original: unknown) => (typeof original === 'string' ? read(original) : original))
    .test('readable', (value: unknown, context) =>
      value instanceof Unreadable ? context.createError({ message: value.problem }) : true,
    )
    .meta({ allowed });
}

/** Comma-separated or repeated values; none given is an empty list, which filters nothing. */
function list<T>(read: Reader<T>, allowed: string): Parameter<readonly T[]> {
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
    .meta({ allowed, many: true }) as unknown as Parameter<readonly T[]>;
}

/** Exact names; one that nothing has matches nothing. */
export function names(): Parameter<readonly string[]> {
  return list((text) => text, 'names');
}

export function words<const Words extends readonly string[]>(all: Words): Parameter<readonly Words[number][]> {
  return list(readWord(all), all.join(', '));
}

export function word<const Words extends readonly string[]>(all: Words): Parameter<Words[number] | undefined> {
  return scalar(readWord(all), all.join(', '));
}

function readWord<const Words extends readonly string[]>(all: Words): Reader<Words[number]> {
  return (text) => (all.includes(text) ? text : new Unreadable(`${quote(text)} is unknown`));
}

/** A part of a name, case ignored. */
export function search(): Parameter<string | undefined> {
  return scalar((text) => (text.length > 253 ? new Unreadable('is too long') : text), 'at most 253 characters');
}

/** A text of so many characters at most. */
export function text(most: number): Parameter<string | undefined> {
  return scalar((value) => (value.length > most ? new Unreadable('is too long') : value), `at most ${most} characters`);
}

/** A name of any form: one that nothing has is answered by the route. */
export function name(): Parameter<string | undefined> {
  return scalar((text) => text, 'a name');
}

export function flag(): Parameter<boolean | undefined> {
  return scalar(
    (text) => (text === 'true' ? true : text === 'false' ? false : new Unreadable('must be true or false')),
    'true, false',
  );
}

/** A whole number in decimal digits. Above `max` it is refused, or lowered to it. */
export function whole(bounds: { min: number; max: number; above?: 'lowered' }): Parameter<number | undefined> {
  const { min, max, above } = bounds;
  return scalar(
    (text) => {
      if (!/^-?[0-9]+$/.test(text)) return new Unreadable('must be a whole number');
      const number = Number(text);
      if (number < min) return new Unreadable(`must be at least ${min}`);
      if (number <= max) return number;
      return above === 'lowered' ? max : new Unreadable(`must be at most ${max}`);
    },
    above === 'lowered' ? `${min} or more` : `${min} to ${max}`,
  );
}

export function instant(): Parameter<Instant | undefined> {
  return scalar((text) => {
    const reading = readInstant(text);
    return 'problem' in reading ? new Unreadable(reading.problem) : reading.at;
  }, 'RFC 3339 such as 2026-11-21T06:52:00Z, or a date');
}

/** `namespace/name`. */
export function ref(): Parameter<Ref | undefined> {
  return scalar((text) => {
    const [namespace, objectName, more] = text.split('/');
    if (!namespace || !objectName || more !== undefined) return new Unreadable('must be namespace/name');
    return { namespace, name: objectName };
  }, 'namespace/name');
}

export interface Sort<Key extends string> {
  readonly key: Key;
  readonly descending: boolean;
}

/** `key` rises, `-key` falls. */
export function sort<const Keys extends readonly string[]>(
  keys: Keys,
  standard: Sort<Keys[number]>,
): Parameter<Sort<Keys[number]>> {
  return scalar<Sort<Keys[number]>>(
    (text) => {
      const descending = text.startsWith('-');
      const key = descending ? text.slice(1) : text;
      return keys.includes(key) ? { key, descending } : new Unreadable(`${quote(text)} is no key to sort by`);
    },
    keys.map((key) => `${key}, -${key}`).join(', '),
  ).default(standard);
}

/** `limit` and `offset` of any paged list. */
export const paging = {
  limit: whole({ min: 1, max: maxLimit, above: 'lowered' }),
  offset: whole({ min: 0, max: maxOffset }),
};

/** A value of a stranger inside one of our sentences. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
