/**
 * A shape says what is on the wire, once: the type of it is inferred (`Of`), OpenAPI is written from it (`schema.ts`), and the HTTP edge
 * reads a body by it. It is plain data without a dependency: the browser loads it, and drops what it does not use.
 */
export interface Shape<T = unknown> {
  readonly form: Form;
  /** Of its component in the OpenAPI document; a shape without a name is written wherever it is used. */
  readonly name?: string;
  /** What the document says of it. */
  readonly says?: string;
  /** For the type checker alone: no value has it. */
  readonly type?: T;
}

/** What a value of a shape looks like. Bounds are inclusive; lengths are counted in characters. */
export type Form =
  | {
      readonly kind: 'text';
      readonly least?: number;
      readonly most?: number;
      readonly pattern?: string;
      readonly format?: string;
    }
  | { readonly kind: 'number'; readonly whole: boolean; readonly least?: number; readonly most?: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'list'; readonly item: Shape; readonly most?: number; readonly least?: number }
  | { readonly kind: 'map'; readonly values: Shape }
  /** `closed`: what a caller sends; a field that is not here is refused. `more`: it may have any others. */
  | { readonly kind: 'object'; readonly fields: Fields; readonly closed?: boolean; readonly more?: boolean }
  | { readonly kind: 'nullable'; readonly of: Shape }
  | { readonly kind: 'anyObject' }
  | { readonly kind: 'anything' };

/** A field that may be absent. */
export interface Optional<T> extends Shape<T> {
  readonly optional: true;
}

export type Fields = Readonly<Record<string, Shape>>;

/** A shape with fields, for another one to begin with: `extended(Alert, { more: text })`. */
export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

/** The type of what a shape describes. */
export type Of<S extends Shape> = S extends Shape<infer T> ? T : never;

type ObjectOf<F extends Fields> = Flat<
  { readonly [Key in keyof F as F[Key] extends Optional<unknown> ? never : Key]: Of<F[Key]> } & {
    readonly [Key in keyof F as F[Key] extends Optional<unknown> ? Key : never]?: Of<F[Key]>;
  }
>;
type Flat<T> = { readonly [Key in keyof T]: T[Key] };

export const text: Shape<string> = { form: { kind: 'text' } };
export const number: Shape<number> = { form: { kind: 'number', whole: false } };
export const int: Shape<number> = { form: { kind: 'number', whole: true } };
export const count: Shape<number> = { form: { kind: 'number', whole: true, least: 0 } };
export const seconds: Shape<number> = { form: { kind: 'number', whole: false, least: 0 } };
export const bool: Shape<boolean> = { form: { kind: 'flag' } };
/** Percent from 0 to 100, at most two decimals. */
export const percent: Shape<number> = { form: { kind: 'number', whole: false, least: 0, most: 100 } };
/** UTC with milliseconds, `2026-11-21T06:52:00.000Z`. */
export const instant: Shape<string> = {
  form: {
    kind: 'text',
    format: 'date-time',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`,
  },
};
/** With the offset of its zone, `2026-11-21T07:52:00+01:00`. */
export const localTime: Shape<string> = { form: { kind: 'text', format: 'date-time' } };
/** A UTC day, `2026-11-20`. */
export const date: Shape<string> = { form: { kind: 'text', format: 'date', pattern: String.raw`^\d{4}-\d{2}-\d{2}$` } };
/** Of alerts, deliveries and silences. */
export const id: Shape<string> = { form: { kind: 'text', format: 'uuid' } };
/** What is in it is not ours to say. */
export const anyObject: Shape<Readonly<Record<string, unknown>>> = { form: { kind: 'anyObject' } };
export const anything: Shape = { form: { kind: 'anything' } };

/** Text of at least one character. */
/* @__NO_SIDE_EFFECTS__ */
export function shortText(most: number): Shape<string> {
  return { form: { kind: 'text', least: 1, most } };
}

/** Text that may be empty. */
/* @__NO_SIDE_EFFECTS__ */
export function anyText(most: number): Shape<string> {
  return { form: { kind: 'text', most } };
}

/* @__NO_SIDE_EFFECTS__ */
export function wholeNumber(least: number, most?: number): Shape<number> {
  return { form: { kind: 'number', whole: true, least, ...(most === undefined ? {} : { most }) } };
}

/** One of some words. */
/* @__NO_SIDE_EFFECTS__ */
export function words<const Words extends readonly string[]>(all: Words): Shape<Words[number]> {
  return { form: { kind: 'words', words: all } };
}

/* @__NO_SIDE_EFFECTS__ */
export function listOf<T>(item: Shape<T>, most?: number): Shape<readonly T[]> {
  return { form: { kind: 'list', item, ...(most === undefined ? {} : { most }) } };
}

/** A list of at least one item. */
/* @__NO_SIDE_EFFECTS__ */
export function someOf<T>(item: Shape<T>, most: number): Shape<readonly T[]> {
  return { form: { kind: 'list', item, most, least: 1 } };
}

/** Values by name; `Key` where only some names can be there. */
/* @__NO_SIDE_EFFECTS__ */
export function mapOf<T>(values: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return { form: { kind: 'map', values } };
}

/* @__NO_SIDE_EFFECTS__ */
export function nullable<T>(of: Shape<T>): Shape<T | null> {
  return { form: { kind: 'nullable', of } };
}

/** For a field of an object. */
/* @__NO_SIDE_EFFECTS__ */
export function optional<T>(shape: Shape<T>): Optional<T> {
  return { ...shape, optional: true };
}

/** The same with a sentence of the document about it. */
/* @__NO_SIDE_EFFECTS__ */
export function described<T>(shape: Shape<T>, says: string): Shape<T> {
  return { ...shape, says };
}

/** The same where the type of the program is narrower than what can be written in the document. */
/* @__NO_SIDE_EFFECTS__ */
export function typed<T>(shape: Shape): Shape<T> {
  return shape as Shape<T>;
}

/** An object: every field is there, but those that are optional. With a name it is a component of the document. */
export function object<const F extends Fields>(fields: F): ObjectShape<F>;
export function object<const F extends Fields>(name: string, fields: F): ObjectShape<F>;
/* @__NO_SIDE_EFFECTS__ */
export function object<const F extends Fields>(...given: [F] | [string, F]): ObjectShape<F> {
  const [name, fields] = given.length === 1 ? [undefined, given[0]] : given;
  return { form: { kind: 'object', fields }, fields, ...(name === undefined ? {} : { name }) };
}

/** What a caller sends: a field that it does not have is refused. */
export function input<const F extends Fields>(fields: F): ObjectShape<F>;
export function input<const F extends Fields>(name: string, fields: F): ObjectShape<F>;
/* @__NO_SIDE_EFFECTS__ */
export function input<const F extends Fields>(...given: [F] | [string, F]): ObjectShape<F> {
  const [name, fields] = given.length === 1 ? [undefined, given[0]] : given;
  return { form: { kind: 'object', fields, closed: true }, fields, ...(name === undefined ? {} : { name }) };
}

/** An object with all that another one has, or these fields, and more: a field of the same name takes its place. */
/* @__NO_SIDE_EFFECTS__ */
export function extended<const Base extends Fields | ObjectShape<Fields>, const F extends Fields>(
  base: Base,
  fields: F,
): ObjectShape<Flat<Omit<FieldsOf<Base>, keyof F> & F>> {
  // A spread among the arguments of a call keeps a bundler from leaving the call out: it is here.
  const first = 'form' in base ? (base as ObjectShape<Fields>).fields : base;
  return object({ ...first, ...fields } as unknown as Flat<Omit<FieldsOf<Base>, keyof F> & F>);
}

type FieldsOf<Base> = Base extends ObjectShape<infer F> ? F : Base;

/** The same under each of some words. */
/* @__NO_SIDE_EFFECTS__ */
export function each<const Words extends readonly string[], T>(
  all: Words,
  shape: Shape<T>,
): ObjectShape<Readonly<Record<Words[number], Shape<T>>>> {
  // The words of the table are the keys.
  return object(Object.fromEntries(all.map((word) => [word, shape])) as Record<Words[number], Shape<T>>);
}

/** The same as a component of the document. */
/* @__NO_SIDE_EFFECTS__ */
export function named<S extends Shape>(name: string, shape: S): S {
  return { ...shape, name };
}
