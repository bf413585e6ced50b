import { createHash } from 'node:crypto';
import { change, execute, firstRow, insertRows, type Row, rows } from '../ask.ts';
import type { Db, Store, Tx } from '../database.ts';
import { findLiveLeader } from '../heartbeats.ts';
import { bringForward, copyMarker, refuseOtherSchema, underLock } from '../migrate.ts';
import { StoreError } from '../store-error.ts';
import type { ColumnType, Dialect } from '../dialect/dialect.ts';
import { originColumns } from '../migrations/0006-watch-origins.ts';
import { factTables, silenceColumns } from '../migrations/0007-nothing-silent.ts';
import { reachColumns } from '../migrations/0008-reach.ts';
import { personColumns, personTables } from '../migrations/0009-right-person.ts';
import { listTable } from '../migrations/0010-cronjob-list.ts';
import { actionsTable } from '../migrations/0011-actions.ts';
import { forecastTable } from '../migrations/0012-forecasts.ts';
import { wordColumns } from '../migrations/0013-earlier-words.ts';
import type { Table } from '../migrations/table.ts';
import { alertTables } from '../migrations/tables-of-alerts.ts';
import { catalogTables, runTables, serviceTables } from '../migrations/tables-of-runs.ts';
import { afterRow, orderOf } from '../keyset.ts';
import { quoted } from '../upsert.ts';

export interface CopyRequest {
  /** The file of a service that has ended. */
  readonly from: Store;
  /** An empty database of a server, or one into which a copy was begun and did not end. */
  readonly to: Store;
  /** Of this program. */
  readonly version: string;
  /** A process that has beaten within this time is alive. */
  readonly leaseMs: number;
  /** Called and awaited after each table; an error that it throws ends the copy. */
  readonly told?: ((step: CopyStep) => void | Promise<void>) | undefined;
}

export interface CopyStep {
  readonly step: 'cleared' | 'copied' | 'proved';
  readonly table: string;
  readonly rows: number;
}

/** Bytes of one statement: servers refuse those above some megabytes. */
const mostBytes = 1024 * 1024;
const clearLimitMs = 600_000;
/** A process that is about to give the lock back may have it still. */
const lockTries = 3;

/**
 * Copies all rows of one database into another, in one consistent read that keeps every writer out, and reads both again to prove it.
 * From the first row until the proof the target has a mark on which no process starts; a later call clears what an interrupted one
 * left. Throws `StoreError` `refused` with a sentence, and has then changed nothing: a live process on the source, another schema, rows in
 * the target.
 */
export async function copyStore(request: CopyRequest): Promise<readonly TableProof[]> {
  const { from } = request;
  let failure: { readonly error: unknown } | undefined;
  // An error of the target must not repeat the read, so it is not thrown through the read's transaction.
  const proofs = await from.transaction(async (source) => {
    try {
      await refuseSource(source, request);
      return await underLock(request.to, (target) => copyUnderLock(source, target, request), lockTries);
    } catch (error) {
      failure = { error };
      return [];
    }
  });
  if (failure) throw failure.error;
  return proofs;
}

async function refuseSource(source: Tx, { leaseMs }: CopyRequest): Promise<void> {
  await refuseOtherSchema(source).catch((error: unknown) => {
    throw error instanceof StoreError && error.code === 'schema'
      ? refused(`the source cannot be copied: ${error.message}`)
      : error;
  });
  const leader = await findLiveLeader(source, source.now(), leaseMs);
  if (!leader) return;
  const agoS = Math.max(0, Math.round((source.now() - leader.beatAt) / 1000));
  throw refused(
    `the source is in use: ${leader.holder} wrote to it ${agoS} s ago; end it first, and try again ${Math.ceil(leaseMs / 1000)} s later`,
  );
}

async function copyUnderLock(source: Tx, target: Db, request: CopyRequest): Promise<TableProof[]> {
  const { to, version, told } = request;
  await prepareTarget(target, request);
  await bringForward(to, target, { version });
  await putMarker(target, version);
  for (const table of copiedTables) {
    await clear(target, table.name); // the row of the leader, which every schema has
    const rows = await copyTable(source, target, table);
    await told?.({ step: 'copied', table: table.name, rows });
  }
  const proofs: TableProof[] = [];
  for (const table of copiedTables) {
    const proof = await proveTable(source, target, table);
    proofs.push(proof);
    await told?.({ step: 'proved', table: table.name, rows: proof.to.rows });
  }
  if (proofs.every(({ equal }) => equal)) await removeMarker(target);
  return proofs;
}

/** Rows of an interrupted copy go; any other row is in use. */
async function prepareTarget(target: Db, { told }: CopyRequest): Promise<void> {
  if (await hasMarker(target)) {
    for (const { name } of copiedTables) {
      const rows = await clear(target, name);
      if (rows > 0) await told?.({ step: 'cleared', table: name, rows });
    }
    // Only now: until the last row is gone no process may start on them.
    await removeMarker(target);
    return;
  }
  for (const { name } of copiedTables) {
    const where = name === 'leader' ? ' where epoch > 0' : '';
    const found = await ifThere(() => firstRow(target, `select 1 as n from ${name}${where} limit 1`));
    if (found) throw refused(`the target holds data (table ${name}): copy into an empty database`);
  }
}

async function copyTable(source: Tx, target: Db, table: CopiedTable): Promise<number> {
  const columns = table.columns.map(([name]) => name);
  let copied = 0;
  for await (const part of readTable(source, table)) {
    const values = part.map((row) => plainValues(table, row, source.dialect));
    for (const piece of inPieces(values)) {
      const bound = piece.map((row) => boundValues(table, row, target.dialect));
      await insertRows(target, { table: table.name, columns, rows: bound });
    }
    copied += part.length;
  }
  if (table.hasOwnIds) {
    const last = await source.dialect.ownIds.last(source, table.name);
    for (const statement of target.dialect.ownIds.continueAfter(table.name, last)) {
      await execute(target, statement, clearLimitMs);
    }
  }
  return copied;
}

/** Rows that one statement can carry. */
function* inPieces(all: readonly (readonly PlainValue[])[]): Generator<readonly (readonly PlainValue[])[]> {
  let piece: (readonly PlainValue[])[] = [];
  let bytes = 0;
  for (const row of all) {
    const size = sizeOf(row);
    if (piece.length > 0 && bytes + size > mostBytes) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(row);
    bytes += size;
  }
  if (piece.length > 0) yield piece;
}

/** Removes all rows of a table, in parts. Returns how many there were. */
async function clear(target: Db, table: string): Promise<number> {
  const statement = target.dialect.deleteBatch({ table, where: '1 = 1', limit: target.dialect.deleteBatchRows });
  let removed = 0;
  for (;;) {
    // Each part is bounded.
    const changed = await ifThere(() => change(target, statement));
    if (!changed) return removed;
    removed += changed;
  }
}

async function hasMarker(target: Db): Promise<boolean> {
  const found = await ifThere(() =>
    rows(target, 'select version from schema_version where version = ?', [copyMarker.version]),
  );
  return (found?.length ?? 0) > 0;
}

async function putMarker(target: Db, appVersion: string): Promise<void> {
  const { version, name, checksum, readableFrom } = copyMarker;
  await insertRows(target, {
    table: 'schema_version',
    columns: ['version', 'name', 'checksum', 'app_version', 'readable_from', 'applied_at'],
    rows: [[version, name, checksum, appVersion, readableFrom, target.now()]],
  });
}

async function removeMarker(target: Db): Promise<void> {
  await change(target, 'delete from schema_version where version = ?', [copyMarker.version]);
}

/** Undefined where the table does not exist yet. */
async function ifThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StoreError && error.code === 'schema') return undefined;
    throw error;
  }
}

function refused(sentence: string): StoreError {
  return new StoreError('refused', sentence);
}

interface CopiedTable {
  readonly name: string;
  /** In the order in which they are read, written and hashed. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  readonly key: readonly string[];
  /** The table generates its own ids. */
  readonly hasOwnIds: boolean;
  /** Rows read at once: their texts and bytes are in memory together. */
  readonly rowsAtOnce: number;
}

/** Every table with rows of ours; the two of the migrations are made anew in the target. */
const copiedTables: readonly CopiedTable[] = [
  ...catalogTables,
  ...runTables,
  ...alertTables,
  ...serviceTables,
  ...factTables,
  ...personTables,
  listTable,
  actionsTable,
  forecastTable,
].map(toCopied);

function toCopied({ name, columns, primaryKey }: Table): CopiedTable {
  const first = Object.entries(columns).map(([column, { type }]) => [column, type] as const);
  const later: readonly Readonly<Partial<Record<string, Readonly<Record<string, ColumnType>>>>>[] = [
    originColumns,
    silenceColumns,
    reachColumns,
    personColumns,
    wordColumns,
  ];
  const types = [...first, ...later.flatMap((columnsOf) => Object.entries(columnsOf[name] ?? {}))];
  const has = (wanted: ColumnType): boolean => types.some(([, type]) => type === wanted);
  return {
    name,
    columns: types,
    key: primaryKey ?? ['id'],
    hasOwnIds: has('ownId'),
    rowsAtOnce: has('bytes') ? 50 : has('longText') ? 200 : 1_000,
  };
}

/** One side of a proof. */
interface TableFigures {
  /** As the database counts them. */
  readonly rows: number;
  /** Of the rows as they were read, whatever their order; 64 hexadecimal digits. */
  readonly checksum: string;
  /** The last own id that was given; undefined where the table gives none. */
  readonly lastId: number | undefined;
}

export interface TableProof {
  readonly table: string;
  readonly columns: readonly string[];
  readonly from: TableFigures;
  readonly to: TableFigures;
  readonly equal: boolean;
}

/** Reads a table again on both sides and compares what came. */
async function proveTable(source: Db, target: Db, table: CopiedTable): Promise<TableProof> {
  const [from, isWhole] = await measure(source, table);
  const [to, isWholeThere] = await measure(target, table);
  const isSame = from.rows === to.rows && from.checksum === to.checksum && from.lastId === to.lastId;
  const columns = table.columns.map(([name]) => name);
  return { table: table.name, columns, from, to, equal: isSame && isWhole && isWholeThere };
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

/** All rows of a table, part by part in the order of its key. */
async function* readTable(db: Db, table: CopiedTable): AsyncGenerator<readonly Row[], void, undefined> {
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
async function countRows(db: Db, { name }: CopiedTable): Promise<number> {
  const [row] = await rows(db, `select count(*) as n from ${name}`);
  return Number(row?.['n']);
}

/** A value that means the same in every database: id16 as text, numbers as numbers. */
type PlainValue = string | number | Buffer | null;

/** What a driver gave for the columns of a row. */
function plainValues({ columns }: CopiedTable, row: Row, dialect: Dialect): PlainValue[] {
  return columns.map(([name, type]) => plainValue(row[name], type, dialect));
}

function plainValue(value: unknown, type: ColumnType, dialect: Dialect): PlainValue {
  if (value === null || value === undefined) return null;
  if (type === 'id16') return dialect.id16Text(value);
  if (type === 'bytes') return value as Buffer; // what all three drivers give for bytes
  return typeof type === 'object' || type === 'longText' ? (value as string) : Number(value);
}

/** The same values as a database wants them bound. */
function boundValues({ columns }: CopiedTable, values: readonly PlainValue[], dialect: Dialect): unknown[] {
  return values.map((value, index) =>
    columns[index]?.[1] === 'id16' && typeof value === 'string' ? dialect.id16(value) : value,
  );
}

/** About how many bytes a row takes in a statement. */
function sizeOf(values: readonly PlainValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'number' || value === null ? 8 : value.length),
    0,
  );
}

const modulus = 1n << 256n;

/** The sum of the SHA-256 of all rows, independent of their order. */
class TableHash {
  #sum = 0n;
  #rows = 0;

  add(values: readonly PlainValue[]): void {
    const text = JSON.stringify(values.map((value) => (Buffer.isBuffer(value) ? value.toString('base64') : value)));
    const digest = createHash('sha256').update(text).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) % modulus;
    this.#rows++;
  }

  get rows(): number {
    return this.#rows;
  }

  /** 64 hexadecimal digits. */
  get text(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}
