import { rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { afterRow, orderOf } from '../keyset.ts';
import { quoted } from '../upsert.ts';
import type { CopiedTable } from './copied-tables.ts';

/** All rows of a table, part by part in the order of its key. */
export async function* readTable(db: Db, table: CopiedTable): AsyncGenerator<readonly Row[], void, undefined> {
  const names = quoted(table.columns.map(([name]) => name));
  const keys = table.key.map((name) => ({ sql: `"${name}"` }));
  const tail = `order by ${orderOf(keys)} limit ${table.rowsAtOnce}`;
  let after: { readonly sql: string; readonly bindings: readonly unknown[] } | undefined;
  for (;;) {
    const where = after === undefined ? '' : `where ${after.sql} `;
    // Each part begins where the one before has ended.
    const part = await rows(db, `select ${names} from ${table.name} ${where}${tail}`, after?.bindings);
    const last = part.at(-1);
    if (last === undefined) return;
    yield part;
    if (part.length < table.rowsAtOnce) return;
    after = afterRow(
      keys,
      table.key.map((name) => last[name]),
    );
  }
}

/** How many rows the database itself says that there are. */
export async function countRows(db: Db, { name }: CopiedTable): Promise<number> {
  const [row] = await rows(db, `select count(*) as n from ${name}`);
  return Number(row?.['n']);
}
