/** A column of a table: how it stands in the table, and where in the card that a row becomes on a phone. */
export interface Column {
  readonly id: string;
  readonly title: string;
  /** CSS width; the columns without one share what is left. */
  readonly width?: string;
  readonly align?: 'end';
  /** What the server sorts by. */
  readonly sortKey?: string;
  /** The first click sorts from large to small. */
  readonly falls?: boolean;
  /** Left out where the window is narrower: a detail that another page has too. The card of a phone has its own `card`. */
  readonly hideBelow?: 1024 | 1280 | 1440;
  /** Place in the card of a phone: `lead` and `aside` share a line, `full` has its own. */
  readonly card?: 'lead' | 'aside' | 'full' | 'hidden';
  /** It stands beside two lines of the card, as what a finger has to hit does. */
  readonly isCardTall?: boolean;
  /** Order in the card; columns without one keep theirs. */
  readonly cardOrder?: number;
  /** The title stands before the value in the card. */
  readonly hasCardLabel?: boolean;
  /** The title is for readers alone, such as that of a menu. */
  readonly isTitleHidden?: boolean;
}

/** The last column of rows that have a menu. */
export const menuColumn = {
  id: 'menu',
  title: 'Actions',
  width: '60px',
  align: 'end',
  card: 'aside',
  isTitleHidden: true,
} as const;

/** What the table is sorted by, as the API writes it: `name`, `-name`. */
export function nextSort(column: Column, sort: string): string {
  const rises = column.sortKey ?? column.id;
  if (sort === rises) return `-${rises}`;
  return column.falls && sort !== `-${rises}` ? `-${rises}` : rises;
}

/** For `aria-sort`. */
export function sortOf(column: Column, sort: string | undefined): 'ascending' | 'descending' | 'none' | undefined {
  if (column.sortKey === undefined) return undefined;
  if (sort === column.sortKey) return 'ascending';
  return sort === `-${column.sortKey}` ? 'descending' : 'none';
}
