import { firstRow } from './ask.ts';
import type { Db } from './database.ts';

/** The oldest and the newest id of the changes that are kept; undefined when nothing is. */
export async function findChangeBounds(db: Db): Promise<{ oldest: number; newest: number } | undefined> {
  const row = await firstRow(db, 'select min(id) as oldest, max(id) as newest from changes');
  if (!row || row['newest'] === null) return undefined;
  return { oldest: Number(row['oldest']), newest: Number(row['newest']) };
}

/** Newest changes that the mark looks at: more do not commit out of order. */
const newestOnes = 200;

/**
 * A text that is another one after every change. The newest id alone would not do: of two that are written at once the lesser may
 * commit later, and then only moves the end of the newest ones, or their number.
 */
export async function findChangeMark(db: Db): Promise<string> {
  const row = await firstRow(
    db,
    'select count(*) as n, min(id) as oldest, max(id) as newest from (select id from changes order by id desc limit ?) t',
    [newestOnes],
  );
  return `${String(row?.['n'])} ${String(row?.['oldest'])} ${String(row?.['newest'])}`;
}
