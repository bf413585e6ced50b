import type { Db } from './database.ts';
import { clientOf, type RawConnection } from './dialect/connection.ts';
import { poolTimeout } from './dialect/network-errors.ts';
import { PoolBusyError, StoreError } from './store-error.ts';

/** A row as the driver gives it. It never leaves the store: every question makes a type of it. */
export type Row = Readonly<Record<string, unknown>>;

/** Rows that one statement may carry: more would block the loop where the driver is synchronous. */
export const maxRowsPerStatement = 500;

/**
 * Runs one statement as written and returns the driver's answer. Placeholders are `?`, identifiers that are reserved words
 * stand in double quotes: all three databases take both. The query builder is left out, since it costs more than SQLite does.
 */
async function ask(db: Db, statement: Statement): Promise<unknown> {
  const ended = db.observer?.statement(statement.kind);
  let succeeded = false;
  try {
    const isAlone = statement.kind === 'read' && db.connection === undefined;
    const response = await (isAlone ? askOnceMore(db, statement) : askOnce(db, statement));
    succeeded = true;
    db.troubles?.answered();
    return response;
  } catch (error) {
    db.troubles?.failed(error);
    throw error;
  } finally {
    ended?.(succeeded);
  }
}

/**
 * A read that failed by its connection alone is asked a second time: the connection broke under it, or none was free in time while the
 * database answered others. A database that answers nothing is not waited for twice.
 */
async function askOnceMore(db: Db, statement: Statement): Promise<unknown> {
  const answersBefore = db.troubles?.answers();
  let wasLent = false;
  try {
    return await askOnce(db, statement, () => (wasLent = true));
  } catch (error) {
    const isOfConnection =
      error instanceof PoolBusyError || (error instanceof StoreError && error.code === 'unavailable');
    if (!isOfConnection || (!wasLent && db.troubles?.answers() === answersBefore)) throw error;
    return askOnce(db, statement);
  }
}

/** A connection of the pool. Where none was free in time the error says whether the database answered others meanwhile. */
export async function borrowConnection(db: Db): Promise<RawConnection> {
  const client = clientOf(db.sql);
  const answersBefore = db.troubles?.answers();
  try {
    return await client.acquireConnection();
  } catch (error) {
    const { pool, isBorrower } = client;
    const isTimeout = error instanceof StoreError && error.code === 'unavailable' && error.driverCode === poolTimeout;
    if (!isTimeout || db.troubles?.answers() === answersBefore || pool.numUsed() < pool.max) throw error;
    throw new PoolBusyError(pool.max, isBorrower ? undefined : `storage.${db.dialect.name}.pool.max-open-conns`);
  }
}

async function askOnce(db: Db, { sql, bindings = [], limitMs }: Statement, onLent?: () => void): Promise<unknown> {
  const client = clientOf(db.sql);
  const connection = db.connection ?? (await borrowConnection(db));
  onLent?.();
  try {
    const options = limitMs === undefined ? undefined : { ms: limitMs };
    const { response } = await client.query(connection, { sql, bindings, options });
    return response;
  } finally {
    if (db.connection === undefined) await client.releaseConnection(connection);
  }
}

interface Statement {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly kind: 'read' | 'write';
  readonly limitMs?: number;
}

/** Rows of a SELECT. */
export async function rows(db: Db, sql: string, bindings: readonly unknown[] = []): Promise<readonly Row[]> {
  const alone = async (): Promise<readonly Row[]> => db.dialect.rowsOf(await ask(db, { sql, bindings, kind: 'read' }));
  if (!db.together || db.connection !== undefined) return alone();
  return db.together(sql, bindings, alone);
}

export async function firstRow(db: Db, sql: string, bindings: readonly unknown[] = []): Promise<Row | undefined> {
  return (await rows(db, sql, bindings))[0];
}

/** The row that a query finds by the id in its one place, read by `read`; undefined: there is none. */
export async function findById<T>(
  db: Db,
  sql: string,
  id: string,
  read: (db: Db, row: Row) => T | Promise<T>,
): Promise<T | undefined> {
  const row = await firstRow(db, sql, [db.dialect.id16(id)]);
  return row && read(db, row);
}

/** Runs an INSERT, UPDATE or DELETE; how many rows it really changed. An upsert that changes a row may count it twice. */
export async function change(db: Db, sql: string, bindings: readonly unknown[] = []): Promise<number> {
  return db.dialect.changedBy(await ask(db, { sql, bindings, kind: 'write' }));
}

/** Runs a statement that changes the schema or takes a lock: `limitMs` replaces the usual limit. */
export async function execute(db: Db, sql: string, limitMs: number): Promise<void> {
  await ask(db, { sql, kind: 'write', limitMs });
}

/** `?, ?, ?` for a list of values. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/**
 * Inserts rows given as lists of values in the order of `columns`; `tail` is what ends the statement, such as ifAbsent. They go in parts of a
 * power of two: the texts of one insert are nine, whatever the number of its rows, for a driver keeps what it has compiled.
 */
export async function insertRows(
  db: Db,
  insert: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly unknown[])[];
    readonly tail?: string | undefined;
  },
): Promise<number> {
  const { table, columns, tail = '' } = insert;
  const row = `(${marks(columns)})`;
  const head = `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')}) values `;
  let changed = 0;
  for (const part of inPowersOfTwo(insert.rows)) {
    changed += await change(db, `${head}${part.map(() => row).join(', ')}${tail}`, part.flat());
  }
  return changed;
}

/** Cuts a list into parts of 256 at most, each a power of two. */
function* inPowersOfTwo<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let start = 0, size = 256; start < list.length; start += size) {
    while (size > list.length - start) size /= 2;
    yield list.slice(start, start + size);
  }
}

/**
 * Cuts a list into parts that one statement may carry. `filler`: each part is filled up to a power of two, so that few statements serve lists of
 * all lengths; of ids it is -1, which no row has.
 */
export function* inParts<T>(
  list: readonly T[],
  size: number = maxRowsPerStatement,
  filler?: T,
): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) {
    const part = list.slice(start, start + size);
    const missing = filler === undefined ? 0 : 2 ** Math.ceil(Math.log2(part.length)) - part.length;
    yield filler === undefined ? part : [...part, ...Array<T>(missing).fill(filler)];
  }
}
