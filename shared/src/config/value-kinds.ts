import { parseDuration } from '../domain/index.ts';

/** A value as a person gave it: one text, or the items of a list. */
export type Given = string | readonly string[];

/** What reading a text gave: the value, or what is wrong as the end of a sentence ("is not a number"). */
type Parsed<T> = { readonly value: T } | Problem;

export interface Problem {
  readonly problem: string;
  /** Follows what is allowed: "such as 90s". */
  readonly example?: string;
}

/** The words that name a kind to people, in the help text and the reference. */
export type KindName = 'bool' | 'int' | 'duration' | 'list' | 'enum' | 'string';

/** How the text of one kind of value is read, and the words for what it takes. */
export interface ValueKind<T> {
  readonly name: KindName;
  /** Follows "allowed: " in errors, and stands in the reference. Empty: any text. */
  readonly allowed: string;
  readonly isList: boolean;
  parse(given: Given): Parsed<T>;
}

/** `true` or `false`. */
export const bool: ValueKind<boolean> = {
  name: 'bool',
  allowed: 'true, false',
  isList: false,
  parse(given) {
    if (given === 'true' || given === 'false') return { value: given === 'true' };
    return { problem: 'is neither true nor false' };
  },
};

/** A decimal whole number between two bounds, both included. */
export function int(min: number, max = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  return {
    name: 'int',
    allowed: max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`,
    isList: false,
    parse(given) {
      if (typeof given !== 'string' || !/^-?\d+$/.test(given)) return { problem: 'is not a number' };
      const value = Number(given);
      return value >= min && value <= max ? { value } : { problem: 'is out of range' };
    },
  };
}

interface DurationBounds {
  /** Texts of the bounds, both included. Without a lowest one: longer than zero. */
  readonly min?: string;
  readonly max?: string;
  /** 0 is taken too, whatever the lowest bound. */
  readonly orZero?: boolean;
  readonly wholeSeconds?: boolean;
}

/** Milliseconds from a text in Go's syntax plus `d` and `w`. A bare 0 is taken where 0 is allowed. */
export function duration(bounds: DurationBounds = {}): ValueKind<number> {
  const minMs = bounds.min === undefined ? 0 : millisecondsOf(bounds.min);
  const maxMs = bounds.max === undefined ? Infinity : millisecondsOf(bounds.max);
  return {
    name: 'duration',
    allowed: describeBounds(bounds),
    isList: false,
    parse(given) {
      const value = given === '0' && bounds.orZero ? 0 : typeof given === 'string' ? parseDuration(given) : undefined;
      if (value === undefined) return { problem: 'is no duration', example: 'such as 90s' };
      if (value === 0 && bounds.orZero) return { value };
      if (value === 0) return { problem: 'is not longer than zero' };
      if (value < minMs || value > maxMs) return { problem: 'is out of range' };
      if (bounds.wholeSeconds && value % 1000 !== 0) return { problem: 'is not in whole seconds' };
      return { value };
    },
  };
}

function describeBounds({ min, max, orZero, wholeSeconds }: DurationBounds): string {
  const unit = wholeSeconds ? 'whole seconds, ' : '';
  const lowest = orZero ? '0' : min;
  if (lowest !== undefined && max !== undefined) return `${unit}${lowest} to ${max}`;
  if (lowest !== undefined) return `${unit}${lowest} or longer`;
  return `${unit}longer than zero${max === undefined ? '' : `, at most ${max}`}`;
}

function millisecondsOf(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new Error(`${text} is no duration`);
  return value;
}

/** One of the words. */
export function oneOf<const W extends string>(...words: readonly W[]): ValueKind<W> {
  return oneOfOr({}, ...words);
}

/** The same, with other spellings of some words: what the key once took. */
export function oneOfOr<const W extends string>(
  spellings: Readonly<Record<string, W>>,
  ...words: readonly W[]
): ValueKind<W> {
  return {
    name: 'enum',
    allowed: words.join(', '),
    isList: false,
    parse(given) {
      const value =
        typeof given === 'string' && Object.hasOwn(spellings, given)
          ? spellings[given]
          : words.find((word) => word === given);
      return value === undefined ? { problem: 'is unknown' } : { value };
    },
  };
}

/** What a text must be: the words for it, and the check. */
export interface Shape {
  readonly allowed: string;
  /** Ends the sentence for a text that is not so: "is no time zone". */
  readonly problem: string;
  readonly fits: (text: string) => boolean;
}

const notEmpty: Shape = { allowed: '', problem: 'is empty', fits: (text) => text !== '' };

/** A text of the shape; without one, any text that is not empty. */
export function text(shape: Shape = notEmpty): ValueKind<string> {
  return read(shape, (given) => (shape.fits(given) ? given : undefined));
}

/** Any text, the empty one too. */
export const anyText: ValueKind<string> = text({ allowed: '', problem: '', fits: () => true });

/** A text read into something else; undefined from `toValue` means that it does not fit. */
export function read<T>(shape: Omit<Shape, 'fits'>, toValue: (text: string) => T | undefined): ValueKind<T> {
  return {
    name: 'string',
    allowed: shape.allowed,
    isList: false,
    parse(given) {
      const value = typeof given === 'string' ? toValue(given) : undefined;
      return value === undefined ? { problem: given === '' ? 'is empty' : shape.problem } : { value };
    },
  };
}

/** A list of texts of one shape, at most `most` of them. */
export function list(item: Shape = notEmpty, most = Infinity): ValueKind<readonly string[]> {
  return {
    name: 'list',
    allowed: item.allowed,
    isList: true,
    parse(given) {
      const items = typeof given === 'string' ? splitList(given) : given;
      const wrong = items.find((each) => !item.fits(each));
      if (wrong !== undefined)
        return { problem: wrong === '' ? 'has an empty item' : `has "${wrong}", which ${item.problem}` };
      return items.length > most ? { problem: `has more than ${most} items` } : { value: items };
    },
  };
}

/** Items between commas; an empty text is an empty list. Spaces stay. */
function splitList(given: string): string[] {
  return given === '' ? [] : given.split(',');
}
