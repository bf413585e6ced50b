import { parse, ScheduleError } from '../../domain/schedule/index.ts';
import { parseDuration, resourceDurationMaxLength, resourceDurationPattern } from '../../domain/index.ts';
import { refuse, type Reading } from './reading.ts';

/** The rules of one field as data, in the words of an OpenAPI schema: a test compares them with the chart's CRDs. */
export interface FieldRule {
  readonly type: 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  /** Of lists and maps. */
  readonly items?: FieldRule;
  readonly members?: Readonly<Record<string, Member<unknown>>>;
}

/** One kind of field: its rules, and how to read a value that is there. Undefined: it cannot be used, and was named. */
export interface Field<T> {
  readonly rule: FieldRule;
  read(value: unknown, path: string, reading: Reading): T | undefined;
}

/** A field in its place: what an absent one means. */
export interface Member<T> {
  readonly field: Field<T>;
  readonly required: boolean;
  /** JSON, as the CRD has it. */
  readonly default?: unknown;
}

export function optional<T>(field: Field<T>): Member<T> {
  return { field, required: false };
}

export function required<T>(field: Field<T>): Member<T> {
  return { field, required: true };
}

/** `value` stands for an absent field: the default of the CRD, filled in also for objects stored before it existed. */
export function defaulted<T>(field: Field<T>, value: unknown): Member<T> {
  return { field, required: false, default: value };
}

type Members = Readonly<Record<string, Member<unknown>>>;
/** What was read: absent and unusable fields are undefined. */
export type Read<M extends Members> = {
  readonly [K in keyof M]: (M[K] extends Member<infer T> ? T : never) | undefined;
};

/** An object with these fields; others are ignored, as the API server prunes them. */
export function object<M extends Members>(members: M): Field<Read<M>> {
  return {
    rule: { type: 'object', members },
    read: (value, path, reading) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return refuse(reading, path, `must be an object, is ${nameOf(value)}`);
      }
      const given = value as Readonly<Record<string, unknown>>;
      const read = Object.entries(members).map(([name, member]) => [
        name,
        readMember(member, Object.hasOwn(given, name) ? given[name] : undefined, `${path}.${name}`, reading),
      ]);
      return Object.fromEntries(read) as Read<M>; // each member's reader gives its own type
    },
  };
}

function readMember(member: Member<unknown>, value: unknown, path: string, reading: Reading): unknown {
  // The API server drops a null where null is not allowed, and then fills in the default.
  const present = value ?? member.default;
  if (present !== undefined) return member.field.read(present, path, reading);
  return member.required ? refuse(reading, path, 'is required') : undefined;
}

export const boolean: Field<boolean> = {
  rule: { type: 'boolean' },
  read: (value, path, reading) =>
    typeof value === 'boolean' ? value : refuse(reading, path, `must be true or false, is ${nameOf(value)}`),
};

export function integer(minimum: number, maximum: number): Field<number> {
  return {
    rule: { type: 'integer', minimum, maximum },
    read: (value, path, reading) =>
      Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
        ? (value as number)
        : refuse(reading, path, `must be a whole number from ${minimum} to ${maximum}, is ${nameOf(value)}`),
  };
}

export function number(minimum: number, maximum: number): Field<number> {
  return {
    rule: { type: 'number', minimum, maximum },
    read: (value, path, reading) =>
      typeof value === 'number' && value >= minimum && value <= maximum
        ? value
        : refuse(reading, path, `must be a number from ${minimum} to ${maximum}, is ${nameOf(value)}`),
  };
}

export function text(minLength: number, maxLength: number, pattern?: { source: string; says: string }): Field<string> {
  const expression = pattern && new RegExp(pattern.source);
  return {
    rule: {
      type: 'string',
      ...(minLength > 0 && { minLength }),
      maxLength,
      ...(pattern && { pattern: pattern.source }),
    },
    read: (value, path, reading) => {
      if (typeof value !== 'string') return refuse(reading, path, `must be text, is ${nameOf(value)}`);
      const { length } = Array.from(value); // the API server counts characters
      if (length < minLength || length > maxLength) {
        return refuse(reading, path, `must have ${minLength} to ${maxLength} characters, has ${length}`);
      }
      if (expression && !expression.test(value)) return refuse(reading, path, pattern.says);
      return value;
    },
  };
}

export function oneOf<const W extends readonly string[]>(words: W): Field<W[number]> {
  return {
    rule: { type: 'string', enum: words },
    read: (value, path, reading) =>
      words.find((word) => word === value) ??
      refuse(reading, path, `must be one of ${words.join(', ')}, is ${nameOf(value)}`),
  };
}

/** A duration as text, such as `90s` or `1d12h`; longer than zero unless `zero` is set. resources.md section 1. */
export function duration({ zero = false }: { zero?: boolean } = {}): Field<string> {
  const expression = new RegExp(resourceDurationPattern);
  return {
    rule: { type: 'string', maxLength: resourceDurationMaxLength, pattern: resourceDurationPattern },
    read: (value, path, reading) => {
      const isForm = typeof value === 'string' && value.length <= resourceDurationMaxLength && expression.test(value);
      const ms = isForm ? parseDuration(value) : undefined;
      if (ms === undefined)
        return refuse(reading, path, `must be a duration such as 90s or 1d12h, is ${nameOf(value)}`);
      if (ms === 0 && !zero) return refuse(reading, path, 'must be longer than zero');
      return value as string;
    },
  };
}

/** An IANA zone name that exists. */
export const zone: Field<string> = {
  rule: { type: 'string', maxLength: 64 },
  read: (value, path, reading) => {
    if (typeof value !== 'string') return refuse(reading, path, `must be text, is ${nameOf(value)}`);
    if (value !== 'UTC' && !value.includes('/')) {
      const message = 'use an IANA name such as Europe/Berlin, not an abbreviation such as PST';
      return refuse(reading, path, message, 'InvalidTimeZone');
    }
    return zoneExists(value) ? value : refuse(reading, path, `there is no zone ${nameOf(value)}`, 'InvalidTimeZone');
  },
};

function zoneExists(name: string): boolean {
  try {
    parse('@yearly').next(0, name);
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
}

/** A regular expression of RE2; whether it compiles is asked of the reading's checks. */
export const regex: Field<string> = {
  rule: { type: 'string', minLength: 1, maxLength: 1024 },
  read: (value, path, reading) => {
    const pattern = text(1, 1024).read(value, path, reading);
    const problem = pattern === undefined ? undefined : reading.checks.regexProblem?.(pattern);
    return problem === undefined ? pattern : refuse(reading, path, problem, 'InvalidPattern');
  },
};

/** What a message says of a value: texts are cut, objects only named. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const json = JSON.stringify(value) ?? typeof value;
  return json.length > 60 ? `${json.slice(0, 60)}…` : json;
}
