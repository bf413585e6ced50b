/** How much of a limit a character uses up, in the unit of the limit. */
export type Measure = (character: string) => number;

/** UTF-16 units, as most receivers count characters; never fewer than code points. */
const inUnits: Measure = (character) => character.length;

export const inBytes: Measure = (character) => Buffer.byteLength(character);

/** Stands where something was cut off. */
const ellipsis = '…';

/** The beginning of a text that fits, with an ellipsis when something is missing; never half of a character. */
export function cutEnd(text: string, limit: number, measure: Measure = inUnits): string {
  const marked = limit - measure(ellipsis);
  let used = 0;
  let at = 0;
  let markedAt = 0;
  for (const character of text) {
    used += measure(character);
    if (used > limit) return text.slice(0, markedAt) + (marked >= 0 ? ellipsis : '');
    at += character.length;
    if (used <= marked) markedAt = at;
  }
  return text;
}

/** The end of a text that fits, for logs: the last lines say what went wrong. Never half of a character. */
export function keepEnd(text: string, limit: number, measure: Measure = inUnits): string {
  let used = 0;
  let at = text.length;
  while (at > 0) {
    const from = startOfCharacterBefore(text, at);
    used += measure(text.slice(from, at));
    if (used > limit) return text.slice(at);
    at = from;
  }
  return text;
}

function startOfCharacterBefore(text: string, at: number): number {
  const isPair = at > 1 && isLow(text.charCodeAt(at - 1)) && isHigh(text.charCodeAt(at - 2));
  return isPair ? at - 2 : at - 1;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Marks, embeddings, overrides and isolates that turn the direction of the text around them (Unicode Standard Annex 9). */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Control characters other than the end of a line and the tab. */
export const otherControls = /[^\P{Cc}\n\t]+/gu;

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

const escapeCode = 0x1b;
const bellCode = 0x07;

/**
 * The text without the sequences by which programs colour and move on a terminal (ECMA-48): shown elsewhere they are noise, on a
 * terminal they are commands. Time grows with the length of the text alone.
 */
export function dropEscapeSequences(text: string): string {
  let at = text.indexOf('\u001b');
  if (at < 0) return text;
  const kept: string[] = [];
  let from = 0;
  while (at >= 0) {
    kept.push(text.slice(from, at));
    from = endOfSequence(text, at);
    at = text.indexOf('\u001b', from);
  }
  kept.push(text.slice(from));
  return kept.join('');
}

/** Where the text goes on after the sequence that begins at `at`. A sequence that is cut ends before the next escape. */
function endOfSequence(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === '[') return endOfControlSequence(text, at + 2);
  if (kind !== undefined && ']PX^_'.includes(kind)) return endOfString(text, at + 2);
  const code = text.charCodeAt(at + 1);
  if (code >= 0x20 && code <= 0x2f) return Math.min(at + 3, text.length);
  return code >= 0x30 && code <= 0x7e ? at + 2 : at + 1;
}

/** Parameters and intermediates, then one final character. */
function endOfControlSequence(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return at;
    at++;
    if (code >= 0x40) return at;
  }
  return at;
}

/** A title or the like: up to the bell or the string terminator; without one, to the end of its line. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === bellCode) return at + 1;
    if (code === escapeCode) return text[at + 1] === '\\' ? at + 2 : at;
    if (code === 0x0a) return at;
  }
  return text.length;
}
