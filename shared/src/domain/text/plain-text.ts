import { dropEscapeSequences } from './escape-sequences.ts';

/** Marks, embeddings, overrides and isolates that turn the direction of the text around them (Unicode Standard Annex 9). */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Control characters other than the end of a line and the tab. */
const otherControls = /[^\P{Cc}\n\t]+/gu;

/** Letters and signs that no rule here touches: most texts have no others. */
const plainAlready = /^[\x20-\x7e\n\t]*$/;

const blanks = /[\s\u2028\u2029]+/g;

/**
 * A text of strangers as any receiver may show it: no terminal sequences, control characters or marks that turn the direction of
 * what is read, no halves of characters; every line ends in a line feed.
 */
export function toPlainText(text: string): string {
  if (plainAlready.test(text)) return text;
  return dropEscapeSequences(text.toWellFormed())
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(otherControls, '')
    .replace(directionMarks, '');
}

/** The same on one line: runs of blanks become one. */
export function toPlainLine(text: string): string {
  return toPlainText(text).replace(blanks, ' ').trim();
}
