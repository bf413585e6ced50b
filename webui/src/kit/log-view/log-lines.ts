import { safeText } from '../../format/safe-text.ts';

/** A line longer than this is cut where it is shown; the download has it whole. */
export const longestLine = 5_000;

/** Lines of a log, fit to be shown. A line feed at the end begins no line; a carriage return at the end of a line is no text. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  return body.split('\n').map((line) => {
    const bare = line.endsWith('\r') ? line.slice(0, -1) : line;
    const cut = bare.length > longestLine ? `${bare.slice(0, longestLine)}… (${bare.length - longestLine} more)` : bare;
    return safeText(cut);
  });
}

/** Part of a line; `isHit`: what is looked for. */
interface Piece {
  readonly text: string;
  readonly isHit: boolean;
}

/** Cuts a line at what is looked for, upper and lower case alike. */
export function piecesOf(line: string, wanted: string): Piece[] {
  if (wanted === '') return [{ text: line, isHit: false }];
  const pieces: Piece[] = [];
  const lower = line.toLowerCase();
  // Where folding changes the length, places of the folded line are not those of the line.
  const folded = lower.length === line.length ? lower : line;
  const needle = lower.length === line.length ? wanted.toLowerCase() : wanted;
  let from = 0;
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, from)) {
    if (at > from) pieces.push({ text: line.slice(from, at), isHit: false });
    pieces.push({ text: line.slice(at, at + needle.length), isHit: true });
    from = at + needle.length;
  }
  if (from < line.length || pieces.length === 0) pieces.push({ text: line.slice(from), isHit: false });
  return pieces;
}

/** Numbers of the lines that hold what is looked for, from 0. */
export function hitsOf(lines: readonly string[], wanted: string): number[] {
  if (wanted === '') return [];
  const needle = wanted.toLowerCase();
  return lines.flatMap((line, index) => (line.toLowerCase().includes(needle) ? [index] : []));
}

/** `120` of `L120`; undefined for anything else. */
export function lineOfHash(hash: string): number | undefined {
  const digits = /^L([1-9]\d{0,6})$/.exec(hash)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
