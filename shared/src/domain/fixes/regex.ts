import { RE2JS } from 're2js';

/** The longest expression, in bytes of UTF-8. */
const maxRegexBytes = 1024;

/** A compiled expression. Time grows with the text alone, whatever the expression. */
export interface Regex {
  readonly expression: string;
  /** Whether it matches somewhere in the text. */
  finds(text: string): boolean;
  /** Where it matches first, in characters; undefined: nowhere. */
  indexIn(text: string): number | undefined;
  /** The text with every match replaced by `by`, which is taken as it is: `$1` in it means nothing. */
  replaceAll(text: string, by: string): string;
}

/** An expression that cannot be used; `message` ends a sentence about it: "missing closing ): `(a`". */
export class RegexError extends Error {
  readonly code: 'syntax' | 'tooLong';

  constructor(code: 'syntax' | 'tooLong', message: string) {
    super(message);
    this.name = 'RegexError';
    this.code = code;
  }
}

/**
 * Compiles an expression in the syntax of Go's regexp (RE2): no look-around, no back-references. Every expression that a
 * person writes comes through here. Compile once and keep it. `isKnown`: it is known to be good, and compiled when a text is searched with it.
 *
 * @throws RegexError when it is no such expression, or longer than 1 KiB
 */
export function compileRegex(expression: string, isKnown = false): Regex {
  if (Buffer.byteLength(expression) > maxRegexBytes) throw new RegexError('tooLong', 'longer than 1 KiB');
  let compiled = isKnown ? undefined : compile(expression);
  const matcherOf = (text: string): ReturnType<RE2JS['matcher']> => (compiled ??= compile(expression)).matcher(text);
  const words = plainWords(expression);
  return {
    expression,
    finds: (text) => (words && findsWord(words, text)) ?? matcherOf(text).find(),
    indexIn: (text) => {
      const matcher = matcherOf(text);
      return matcher.find() ? matcher.start() : undefined;
    },
    replaceAll: (text, by) => matcherOf(text).replaceAll(() => by),
  };
}

/** What is wrong with an expression; undefined when `compileRegex` takes it. */
export function findRegexProblem(expression: string): string | undefined {
  try {
    compileRegex(expression);
    return undefined;
  } catch (error) {
    if (error instanceof RegexError) return error.message;
    throw error;
  }
}

function compile(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new RegexError('syntax', text.replace(/^error parsing regexp: /, ''));
  }
}

/** Words of which one is looked for, as an expression that is nothing but words names them. */
interface PlainWords {
  readonly words: readonly string[];
  /** Written in small letters, and looked for in a text of small letters. */
  readonly ignoresCase: boolean;
}

/** Nothing in these means anything but itself. */
const plain = /^[\w :/@#%&=,;'"<>~`!-]+$/;

/**
 * The words of an expression such as `(?i)no such host|ENOTFOUND`; undefined when it is more than words. Most expressions about logs
 * are such, and a search for words is a hundred times faster than one for an expression.
 */
export function plainWords(expression: string): PlainWords | undefined {
  const ignoresCase = expression.startsWith('(?i)');
  const words = (ignoresCase ? expression.slice('(?i)'.length) : expression).split('|');
  if (!words.every((word) => plain.test(word))) return undefined;
  return { words: ignoresCase ? words.map((word) => word.toLowerCase()) : words, ignoresCase };
}

/** Without letters whose case folds in ways of their own. */
const ascii = /^[\0-\x7f]*$/;

/** Whether one of the words is in the text; undefined: only the expression can tell. */
function findsWord({ words, ignoresCase }: PlainWords, text: string): boolean | undefined {
  if (!ignoresCase) return words.some((word) => text.includes(word));
  if (!ascii.test(text)) return undefined;
  const small = text.toLowerCase();
  return words.some((word) => small.includes(word));
}
