import { cutEnd, toPlainText } from './cut.ts';

/** A line of a log in which something was found, with its neighbours; each at most 500 characters. */
export interface FoundLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Undefined: the log begins, or ends, here. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const longestShown = 500;
/** Of each line no more is searched, characters. */
const longestSearched = 5_000;

/** The last `most` lines of a log that `finds` likes, the last one first, and how many there are in all. */
export function searchLog(
  log: string,
  finds: (line: string) => boolean,
  most: number,
): { readonly lines: readonly FoundLine[]; readonly count: number } {
  const all = log.replace(/\n$/, '').split('\n');
  const found = all.flatMap((line, at) => (finds(line.slice(0, longestSearched)) ? [at] : []));
  const lines = found
    .slice(-most)
    .toReversed()
    .map((at) => ({
      number: at + 1,
      text: shown(all[at]) ?? '',
      before: shown(all[at - 1]),
      after: shown(all[at + 1]),
    }));
  return { lines, count: found.length };
}

function shown(line: string | undefined): string | undefined {
  return line === undefined ? undefined : cutEnd(toPlainText(line.slice(0, longestSearched)), longestShown);
}
