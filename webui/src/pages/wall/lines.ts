import type { Wall, WallCell, WallRow } from '@cronjob-monitor/shared/contract';
import { plural } from '../../format/figures.ts';

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
