import { diffArrays } from 'diff';
import type { LogPiece } from '../../contract/index.ts';
import { maskLine } from '../text/mask-line.ts';

/** The end of a log that is compared, lines: what went wrong stands there. */
const mostLines = 5_000;
/** A line longer than this is cut, characters. */
const longestLine = 2_000;
/** Logs that need more changes than this say nothing alike: they are told one after the other. Bounds the time, which grows with its square. */
const mostEdits = 1_000;

/**
 * What the logs of two runs have in common, and what each has alone, in the order of both. Lines that differ in numbers, times and ids alone
 * are the same; they are told as this run has them. Of longer logs the last 5,000 lines are compared.
 */
export function logDifference(here: string, there: string): LogPiece[] {
  const [mine, other] = [lastLines(here), lastLines(there)];
  const edits = diffArrays(mine.lines.map(maskLine), other.lines.map(maskLine), { maxEditLength: mostEdits });
  // Too much differs.
  if (!edits)
    return [piece('here', mine.from, mine.lines), piece('there', other.from, other.lines)].filter(
      ({ lines }) => lines.length > 0,
    );
  let [inMine, inOther] = [0, 0];
  return edits.map(({ added, removed, count }) => {
    if (added) {
      const at = inOther;
      inOther += count;
      return piece('there', other.from + at, other.lines.slice(at, inOther));
    }
    const at = inMine;
    inMine += count;
    if (!removed) inOther += count;
    return piece(removed ? 'here' : 'same', mine.from + at, mine.lines.slice(at, inMine));
  });
}

function piece(kind: LogPiece['kind'], from: number, lines: readonly string[]): LogPiece {
  return { kind, from, lines };
}

function lastLines(log: string): { readonly from: number; readonly lines: readonly string[] } {
  const all = log.replace(/\n$/, '').split('\n');
  if (log === '') return { from: 1, lines: [] };
  const lines = all.slice(-mostLines).map((line) => line.slice(0, longestLine));
  return { from: all.length - lines.length + 1, lines };
}
