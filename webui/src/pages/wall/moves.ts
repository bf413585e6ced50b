/** A place in the wall: a line from 0 on, and a column, which is -1 at the name of the line. */
export interface WallPlace {
  readonly line: number;
  readonly column: number;
}

const pageLines = 10;

const moves: Readonly<Record<string, (from: WallPlace, columns: number) => WallPlace>> = {
  ArrowRight: ({ line, column }) => ({ line, column: column + 1 }),
  ArrowLeft: ({ line, column }) => ({ line, column: column - 1 }),
  ArrowDown: ({ line, column }) => ({ line: line + 1, column }),
  j: ({ line, column }) => ({ line: line + 1, column }),
  ArrowUp: ({ line, column }) => ({ line: line - 1, column }),
  k: ({ line, column }) => ({ line: line - 1, column }),
  PageDown: ({ line, column }) => ({ line: line + pageLines, column }),
  PageUp: ({ line, column }) => ({ line: line - pageLines, column }),
  Home: ({ line }) => ({ line, column: -1 }),
  End: ({ line }, columns) => ({ line, column: columns - 1 }),
};

/** Where a key leads, within the bounds; undefined: it is none that moves. */
export function moveIn(
  key: string,
  from: WallPlace | undefined,
  { lines, columns }: { readonly lines: number; readonly columns: number },
): WallPlace | undefined {
  const move = moves[key];
  if (!move || lines === 0) return undefined;
  const { line, column } = move(from ?? { line: 0, column: -1 }, columns);
  return { line: between(0, line, lines - 1), column: between(-1, column, columns - 1) };
}

function between(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
