import * as yup from 'yup';
import type { Ref } from '@cronjob-monitor/shared/contract';

/** Fields that several bodies have. Each is refused as null; absent ones are undefined. */

const absent = 'must not be null';

/** Text with at least one character. */
export function text(most: number): yup.StringSchema {
  return yup
    .string()
    .typeError('must be a text')
    .nonNullable(absent)
    .min(1, 'must not be empty')
    .test(
      'most',
      `must have at most ${most} characters`,
      (value) => value === undefined || Array.from(value).length <= most,
    );
}

/** Text that may be empty. */
export function anyText(most: number): yup.StringSchema {
  return yup.string().typeError('must be a text').nonNullable(absent).max(most, `must have at most ${most} characters`);
}

export function wholeNumber(min: number, max: number): yup.NumberSchema {
  const bounds = `must be a whole number from ${min} to ${max}`;
  return yup.number().typeError(bounds).nonNullable(absent).integer(bounds).min(min, bounds).max(max, bounds);
}

export function bool(): yup.BooleanSchema {
  return yup.boolean().typeError('must be true or false').nonNullable(absent);
}

/** One of some words. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
): yup.StringSchema<Words[number] | undefined> {
  return yup
    .string()
    .typeError('must be a text')
    .nonNullable(absent)
    .oneOf([...words], `must be one of ${words.join(', ')}`);
}

export function listOf<T>(item: yup.ISchema<T>, most: number): yup.ArraySchema<T[] | undefined, yup.AnyObject, ''> {
  return yup
    .array()
    .of(item)
    .typeError('must be a list')
    .nonNullable(absent)
    .max(most, `must have at most ${most} items`);
}

/** An object that may be absent as a whole. */
export function object<Fields extends yup.ObjectShape>(
  fields: Fields,
): yup.ObjectSchema<yup.TypeFromShape<Fields, yup.AnyObject> | undefined> {
  return yup.object(fields).typeError('must be an object').nonNullable(absent).default(undefined) as never; // the types of yup lose the fields on the way
}

/** `{namespace, name}`. */
export function refField(): yup.Schema<Ref | undefined> {
  return object({ namespace: text(63).required('is required'), name: text(253).required('is required') });
}
