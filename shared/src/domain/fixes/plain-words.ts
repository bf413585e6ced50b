/** Words of which one is looked for, as an expression that is nothing but words names them. */
export interface PlainWords {
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
export function findsWord({ words, ignoresCase }: PlainWords, text: string): boolean | undefined {
  if (!ignoresCase) return words.some((word) => text.includes(word));
  if (!ascii.test(text)) return undefined;
  const small = text.toLowerCase();
  return words.some((word) => small.includes(word));
}
