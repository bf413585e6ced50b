import { blot } from './blot.ts';

const begin = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g;
const end = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g;
/** A key whose line ends are written as `\n`, as within a JSON text. */
const sameLineKey = /(?:\\[nr]|[A-Za-z0-9+/=]){8,}/y;
/** A line of such a block that has lost its other end. */
const keyLine = /^[ \t]*[A-Za-z0-9+/=]{8,}[ \t\r]*$/;

/**
 * PEM blocks of private keys with their contents blotted out. Of a block whose beginning or end is missing, for the log was cut there,
 * the lines that look like a key go.
 */
export function blotPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY-----')) return text;
  const kept: string[] = [];
  const lastEnd = text.lastIndexOf('-----END ');
  let from = 0;
  for (const first of text.matchAll(begin)) {
    if (first.index < from) continue;
    const inside = first.index + first[0].length;
    kept.push(blotBeforeEnd(text.slice(from, first.index)), first[0]);
    end.lastIndex = inside;
    const last = inside <= lastEnd ? end.exec(text) : null; // without this, many beginnings would each search the whole rest
    from = last?.index ?? endOfKey(text, inside);
    if (from > inside) kept.push(blot);
    if (last) {
      kept.push(last[0]);
      from += last[0].length;
    }
  }
  kept.push(blotBeforeEnd(text.slice(from)));
  return kept.join('');
}

/** Where what looks like a key ends: on the line of its beginning, or on the lines after it. */
function endOfKey(text: string, inside: number): number {
  sameLineKey.lastIndex = inside;
  const sameLine = sameLineKey.exec(text);
  let from = sameLine ? inside + sameLine[0].length : inside;
  while (from < text.length) {
    const lineEnd = text.indexOf('\n', from);
    const line = text.slice(from, lineEnd < 0 ? text.length : lineEnd);
    if (line.trim() !== '' && !keyLine.test(line)) break;
    if (lineEnd < 0) return text.length;
    from = lineEnd + 1;
  }
  return from;
}

/** A part of the text without a beginning of a key: the lines before an end of one go. */
function blotBeforeEnd(part: string): string {
  if (!part.includes('PRIVATE KEY-----')) return part;
  const lines: string[] = [];
  for (const line of part.split('\n')) {
    if (line.search(end) >= 0) {
      const before = lines.length;
      while (lines.length > 0 && keyLine.test(lines.at(-1) ?? '')) lines.pop();
      if (lines.length < before) lines.push(blot);
    }
    lines.push(line);
  }
  return lines.join('\n');
}
