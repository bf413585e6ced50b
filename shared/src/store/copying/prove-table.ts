import type { Db } from '../database.ts';
import type { CopiedTable } from './copied-tables.ts';
import { countRows, readTable } from './read-table.ts';
import { plainValues } from './row-values.ts';
import { TableHash } from './table-hash.ts';

/** One side of a proof. */
export interface TableFigures {
  /** As the database counts them. */
  readonly rows: number;
  /** Of the rows as they were read, whatever their order; 64 hexadecimal digits. */
  readonly checksum: string;
  /** The last own id that was given; undefined where the table gives none. */
  readonly lastId: number | undefined;
}

export interface TableProof {
  readonly table: string;
  readonly from: TableFigures;
  readonly to: TableFigures;
  readonly equal: boolean;
}

/** Reads a table again on both sides and compares what came. */
export async function proveTable(source: Db, target: Db, table: CopiedTable): Promise<TableProof> {
  const [from, isWhole] = await measure(source, table);
  const [to, isWholeThere] = await measure(target, table);
  const isSame = from.rows === to.rows && from.checksum === to.checksum && from.lastId === to.lastId;
  return { table: table.name, from, to, equal: isSame && isWhole && isWholeThere };
}

/** With whether as many rows were read as the database counts. */
async function measure(db: Db, table: CopiedTable): Promise<[TableFigures, boolean]> {
  const hash = new TableHash();
  for await (const part of readTable(db, table)) {
    for (const row of part) hash.add(plainValues(table, row, db.dialect));
  }
  const counted = await countRows(db, table);
  const lastId = table.hasOwnIds ? await db.dialect.ownIds.last(db, table.name) : undefined;
  return [{ rows: counted, checksum: hash.text, lastId }, hash.rows === counted];
}
