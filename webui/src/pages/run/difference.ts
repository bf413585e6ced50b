import type { LogPiece } from '@cronjob-monitor/shared/contract';

/** A line of two logs held side by side: its number in each that has it. */
export interface DifferenceLine {
  readonly kind: 'line';
  readonly key: string;
  readonly sign: '' | '+' | '-';
  readonly here: number | undefined;
  readonly there: number | undefined;
  readonly text: string;
}

/** Lines that are not drawn. */
export interface DifferenceFold {
  readonly kind: 'fold';
  readonly key: string;
  /** Which piece opens. */
  readonly piece: number;
  readonly lines: number;
  readonly isCommon: boolean;
}

export type DifferenceRow = DifferenceLine | DifferenceFold;

/** Common lines that stand around what differs; more are folded. */
const commonLines = 2;
/** Lines of one run alone that are drawn at once, half at the beginning and half at the end. */
const mostLines = 300;

/** What is drawn of the pieces; those in `open` whole. */
export function differenceRows(pieces: readonly LogPiece[], open: ReadonlySet<number>): DifferenceRow[] {
  let [here, there] = [pieces.find(({ kind }) => kind !== 'there')?.from ?? 1, 1];
  const firstThere = pieces.find(({ kind }) => kind === 'there');
  if (firstThere) there = firstThere.from - commonBefore(pieces, firstThere);
  return pieces.flatMap(({ kind, lines }, piece): DifferenceRow[] => {
    const rows = lines.map((text): DifferenceLine => ({
      kind: 'line',
      key: `${piece} ${here} ${there}`,
      sign: kind === 'same' ? '' : kind === 'here' ? '+' : '-',
      here: kind === 'there' ? undefined : here++,
      there: kind === 'here' ? undefined : there++,
      text,
    }));
    if (open.has(piece)) return rows;
    const isCommon = kind === 'same';
    const head = isCommon ? (piece === 0 ? 1 : commonLines) : mostLines / 2;
    const tail = isCommon ? (piece === pieces.length - 1 ? 1 : commonLines) : mostLines / 2;
    const folded = rows.length - head - tail;
    // A fold takes a line itself.
    if (folded < 2) return rows;
    return [
      ...rows.slice(0, head),
      { kind: 'fold', key: `fold ${piece}`, piece, lines: folded, isCommon },
      ...rows.slice(rows.length - tail),
    ];
  });
}

function commonBefore(pieces: readonly LogPiece[], until: LogPiece): number {
  return pieces
    .slice(0, pieces.indexOf(until))
    .reduce((sum, { kind, lines }) => sum + (kind === 'same' ? lines.length : 0), 0);
}

/** Two lines in one row of the view side by side; a fold takes the whole row. */
type SideRow =
  | { readonly kind: 'pair'; readonly key: string; readonly here?: DifferenceLine; readonly there?: DifferenceLine }
  | DifferenceFold;

/** The same rows with what is new beside what it stands in place of. */
export function sideRows(rows: readonly DifferenceRow[]): SideRow[] {
  const told: SideRow[] = [];
  let [plus, minus]: [DifferenceLine[], DifferenceLine[]] = [[], []];
  const flush = (): void => {
    for (let at = 0; at < Math.max(plus.length, minus.length); at++) {
      const [here, there] = [plus[at], minus[at]];
      told.push({
        kind: 'pair',
        key: `${here?.key ?? ''}|${there?.key ?? ''}`,
        ...(here ? { here } : {}),
        ...(there ? { there } : {}),
      });
    }
    [plus, minus] = [[], []];
  };
  for (const row of rows) {
    if (row.kind === 'line' && row.sign === '+') plus.push(row);
    else if (row.kind === 'line' && row.sign === '-') minus.push(row);
    else {
      flush();
      told.push(row.kind === 'fold' ? row : { kind: 'pair', key: row.key, here: row, there: row });
    }
  }
  flush();
  return told;
}
