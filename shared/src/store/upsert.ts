import { marks, maxRowsPerStatement, rows, type Row, inParts, change } from './ask.ts';
import type { Db } from './database.ts';
import type { ColumnType, Dialect } from './dialect/dialect.ts';
import { toId16 } from './id16.ts';

/** Column names as a list of identifiers: some are reserved words. */
export function quoted(columns: readonly string[], alias?: string): string {
  return columns.map((column) => `${alias === undefined ? '' : `${alias}.`}"${column}"`).join(', ');
}

/** Ends an INSERT: a row whose key exists takes the proposed values of these columns. */
export function updateAll(dialect: Dialect, key: readonly string[], columns: readonly string[]): string {
  return `${dialect.orUpdate(key)}${columns.map((column) => `"${column}" = ${dialect.proposed(column)}`).join(', ')}`;
}

/** Each column compares every row with every key. */
const rowsPerUpdate = 64;

/** One row to be changed: the value of its key, and a value for every column of the update. */
export type RowUpdate = readonly [key: unknown, ...values: unknown[]];

/**
 * Changes many rows of a table in one statement, each to values of its own: `set c = case id when … end`. Three databases
 * know three other ways to do this; this one they all know. A part is filled up as a list of `rowsIn` is.
 */
export async function updateRows(
  db: Db,
  update: {
    readonly table: string;
    readonly key: string;
    readonly columns: Readonly<Record<string, ColumnType>>;
    readonly rows: readonly RowUpdate[];
  },
): Promise<number> {
  const { table, key } = update;
  const columns = Object.entries(update.columns);
  let changed = 0;
  for (const rowsOfPart of inParts(update.rows, rowsPerUpdate)) {
    const part = filledUp(rowsOfPart);
    const bindings: unknown[] = [];
    const assignments = columns.map(([column, type], position) => {
      const cases = part.map((row) => {
        bindings.push(row[0], row[position + 1]);
        return `when ? then ${db.dialect.parameter(type)}`;
      });
      return `"${column}" = case ${key} ${cases.join(' ')} end`;
    });
    const keys = part.map((row) => row[0]);
    changed += await change(db, `update ${table} set ${assignments.join(', ')} where ${key} in (${marks(keys)})`, [
      ...bindings,
      ...keys,
    ]);
  }
  return changed;
}

/**
 * Rows of a SELECT asked for a list of values, 500 at a time; `toSql` gets the marks of one part, for an IN. A list is filled up with its
 * last value to the next power of two, so that ten statements serve lists of all lengths and stay prepared.
 */
export async function rowsIn(
  db: Db,
  values: readonly unknown[],
  toSql: (marks: string) => string,
  before: readonly unknown[] = [],
  after: readonly unknown[] = [],
): Promise<Row[]> {
  const found: Row[] = [];
  for (const part of inParts(values)) {
    const asked = filledUp(part);
    found.push(...(await rows(db, toSql(marks(asked)), [...before, ...asked, ...after])));
  }
  return found;
}

/** Rows of a SELECT asked for a list of UIDs, by the UID as it was asked for; `column` has it. A UID that no row has is missing. */
export async function rowsByUid(
  db: Db,
  uids: readonly string[],
  column: string,
  toSql: (marks: string) => string,
): Promise<ReadonlyMap<string, Row>> {
  const uidOf = new Map(uids.map((uid) => [toId16(uid), uid]));
  const bound = [...uidOf.keys()].map((id16) => db.dialect.id16(id16));
  const found = new Map<string, Row>();
  for (const row of await rowsIn(db, bound, toSql)) {
    const uid = uidOf.get(db.dialect.id16Text(row[column]));
    if (uid !== undefined) found.set(uid, row);
  }
  return found;
}

/** Changes the rows of a list of values, in parts as `rowsIn` asks for them; returns how many rows were changed. */
export async function changeIn(
  db: Db,
  values: readonly unknown[],
  toSql: (marks: string) => string,
  of: { readonly before?: readonly unknown[]; readonly after?: readonly unknown[] } = {},
): Promise<number> {
  let changed = 0;
  for (const part of inParts(values)) {
    const asked = filledUp(part);
    changed += await change(db, toSql(marks(asked)), [...(of.before ?? []), ...asked, ...(of.after ?? [])]);
  }
  return changed;
}

/** With its last value up to the next power of two: few statements serve lists of all lengths. */
export function filledUp<T>(part: readonly T[]): readonly T[] {
  const size = Math.min(maxRowsPerStatement, 2 ** Math.ceil(Math.log2(part.length)));
  return [...part, ...part.slice(-1).flatMap((last) => Array<T>(size - part.length).fill(last))];
}
