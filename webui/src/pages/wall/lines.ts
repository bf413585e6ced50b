import type { Wall, WallCell, WallHeld, WallRow } from '@cronjob-monitor/shared/contract';
import { plural } from '../../format/figures.ts';
import { msOf } from '../../format/time.ts';

/** A line of the wall: the head of a group, with the cells of all its rows while it is folded, or a row. */
export type WallLine =
  | { readonly kind: 'group'; readonly group: string; readonly rows: readonly WallRow[]; readonly isFolded: boolean }
  | { readonly kind: 'row'; readonly row: WallRow };

/** What a group is called; rows without an owner stand together. */
function groupName({ group }: Pick<WallRow, 'group'>): string {
  return group ?? 'without an owner';
}

/** Rows under the heads of their groups; a folded group is its head alone. */
export function linesOf({ rows }: Pick<Wall, 'rows'>, folded: readonly string[]): WallLine[] {
  return [...Map.groupBy(rows, groupName)].flatMap(([group, members]): WallLine[] => {
    const isFolded = folded.includes(group);
    const head: WallLine = { kind: 'group', group, rows: members, isFolded };
    return isFolded ? [head] : [head, ...members.map((row): WallLine => ({ kind: 'row', row }))];
  });
}

/** What is drawn in a line. */
export function cellsIn(line: WallLine): readonly WallCell[] {
  if (line.kind === 'row') return line.row.cells;
  return line.isFolded ? foldCells(line.rows) : [];
}

/** When messages of a line are held back: of a folded group where all its rows are held alike. */
export function heldIn(line: WallLine): readonly WallHeld[] {
  if (line.kind === 'row') return line.row.held;
  const [first, ...others] = line.isFolded ? line.rows : [];
  const isSame = (a: WallHeld, b: WallHeld): boolean => a.from === b.from && a.until === b.until && a.words === b.words;
  return (first?.held ?? []).filter((span) => others.every(({ held }) => held.some((one) => isSame(one, span))));
}

/** What holds the messages of a column back, the first of several; undefined: nothing does. */
export function heldAt(line: WallLine, fromMs: number, stepSeconds: number): WallHeld | undefined {
  return heldIn(line).find(({ from, until }) => msOf(from) < fromMs + stepSeconds * 1_000 && msOf(until) > fromMs);
}

const counted = ['ok', 'failed', 'late', 'missed', 'skipped', 'unseen', 'running', 'due'] as const;
const countWords: Readonly<Record<(typeof counted)[number], string>> = {
  failed: 'failed',
  missed: 'missed',
  late: 'late',
  unseen: 'not seen',
  skipped: 'skipped',
  running: 'running',
  ok: 'succeeded',
  due: 'expected',
};

/** The cells of several rows as one: their counts are added up. */
function foldCells(rows: readonly WallRow[]): WallCell[] {
  const sums = new Map<number, WallCell>();
  for (const cell of rows.flatMap(({ cells }) => cells)) {
    const sum = sums.get(cell.c);
    sums.set(cell.c, sum ? add(sum, cell) : { ...cell, jobName: null });
  }
  return [...sums.values()].map((cell) => ({
    ...cell,
    words: Object.entries(countWords)
      .flatMap(([key, word]) =>
        cell[key as keyof typeof countWords] > 0 ? `${cell[key as keyof typeof countWords]} ${word}` : [],
      )
      .join(', '),
  }));
}

function add(sum: WallCell, cell: WallCell): WallCell {
  const added = Object.fromEntries(counted.map((key) => [key, sum[key] + cell[key]]));
  const risk = sum.risk === 'likely' || cell.risk === 'likely' ? 'likely' : (sum.risk ?? cell.risk);
  return { ...sum, ...added, risk };
}

/** What a fold is called: `Fold data, 9 CronJobs`. */
export function foldWord({ group, rows, isFolded }: Extract<WallLine, { kind: 'group' }>): string {
  return `${isFolded ? 'Unfold' : 'Fold'} ${group}, ${plural(rows.length, 'CronJob')}`;
}
