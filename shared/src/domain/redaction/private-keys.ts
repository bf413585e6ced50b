import { blot } from './blot.ts';

/** Bounded, so that words that only begin like an end of a block cost no more than their own length. */
const eitherEnd = '-----(BEGIN|END) [A-Z ]{0,40}PRIVATE KEY-----';
const closingEnd = '-----END [A-Z ]{0,40}PRIVATE KEY-----';
/** A line of such a block that has lost its other end. */
const keyLine = /^[ \t]*[A-Za-z0-9+/=]{8,}[ \t\r]*$/;
/** The same, or a blank one, from any place on; fails at the first character that no key has, however long the line. */
const restOfKeyLine = /(?:[ \t]*[A-Za-z0-9+/=]{8,}[ \t\r]*|[ \t\r]*)(?:\n|$)/y;
/** Fewer characters of a key are more likely a word. */
const leastKeyChars = 8;

/**
 * PEM blocks of private keys with their contents blotted out. Of a block whose beginning or end is missing, for the log was cut there,
 * the lines that look like a key go. One pass: each character is looked at by a bounded number of steps, however many halves of blocks
 * the text holds.
 */
export function blotPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY-----')) return text;
  const ends = new RegExp(eitherEnd, 'g');
  const nextClosing = createClosingSearch(text);
  const kept: string[] = [];
  let from = 0;
  for (let end = ends.exec(text); end; end = ends.exec(text)) {
    const until = ends.lastIndex;
    if (end[1] === 'END') {
      kept.push(blotKeyBefore(text, from, end.index), end[0]);
      from = until;
      continue;
    }
    kept.push(text.slice(from, until));
    const closing = nextClosing(until);
    from = closing?.from ?? endOfKey(text, until);
    if (from > until) kept.push(blot);
    if (closing) {
      kept.push(text.slice(closing.from, closing.until));
      from = closing.until;
    }
    ends.lastIndex = from;
  }
  kept.push(text.slice(from));
  return kept.join('');
}

/** Finds the first end of a block at or behind a place; places only grow, so that the text is searched once. */
function createClosingSearch(text: string): (from: number) => { from: number; until: number } | undefined {
  const ends = new RegExp(closingEnd, 'g');
  let found: { from: number; until: number } | undefined = { from: -1, until: 0 };
  return (from) => {
    if (found && found.from < from) {
      ends.lastIndex = from;
      const end = ends.exec(text);
      found = end ? { from: end.index, until: ends.lastIndex } : undefined;
    }
    return found;
  };
}

/** Where what looks like a key ends: on the line of its beginning, or on the lines after it. */
function endOfKey(text: string, inside: number): number {
  const sameLine = afterKeyChars(text, inside);
  let from = sameLine - inside >= leastKeyChars ? sameLine : inside;
  restOfKeyLine.lastIndex = from;
  while (from < text.length && restOfKeyLine.test(text)) from = restOfKeyLine.lastIndex;
  return from;
}

/** Behind characters of a key whose line ends may be written as `\n`, as within a JSON text. */
function afterKeyChars(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    if (isKeyChar(text.charCodeAt(at))) at += 1;
    else if (isWrittenLineEnd(text, at)) at += 2;
    else break;
  }
  return at;
}

/** The part of the text before an end without a beginning: what looks like a key right before it goes, on its line and on the lines above. */
function blotKeyBefore(text: string, from: number, until: number): string {
  const part = text.slice(from, until);
  const lineBegin = part.lastIndexOf('\n') + 1;
  const begin = beforeKeyChars(part, lineBegin);
  let keyFrom = lineBegin;
  while (keyFrom > 1) {
    const before = part.lastIndexOf('\n', keyFrom - 2) + 1;
    if (!keyLine.test(part.slice(before, keyFrom - 1))) break;
    keyFrom = before;
  }
  const lines = keyFrom < lineBegin ? `${blot}\n` : '';
  const rest = part.length - begin >= leastKeyChars ? part.slice(lineBegin, begin) + blot : part.slice(lineBegin);
  return part.slice(0, keyFrom) + lines + rest;
}

/** Where the characters of a key begin that stand at the end of the part, not before `least`. */
function beforeKeyChars(part: string, least: number): number {
  let at = part.length;
  while (at > least) {
    if (at - 2 >= least && isWrittenLineEnd(part, at - 2)) at -= 2;
    else if (isKeyChar(part.charCodeAt(at - 1))) at -= 1;
    else break;
  }
  return at;
}

function isWrittenLineEnd(text: string, at: number): boolean {
  if (text[at] !== '\\') return false;
  return text[at + 1] === 'n' || text[at + 1] === 'r';
}

/** Letters, digits, `+`, `/` and `=`. */
function isKeyChar(code: number): boolean {
  if (code >= 0x61) return code <= 0x7a;
  if (code >= 0x41) return code <= 0x5a;
  return (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x3d;
}
