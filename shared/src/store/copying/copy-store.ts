import { change, execute, firstRow, insertRows, rows } from '../ask.ts';
import type { Db, Store, Tx } from '../database.ts';
import { findLiveLeader } from '../heartbeats.ts';
import { bringForward, refuseOtherSchema, underLock } from '../migrate.ts';
import { StoreError } from '../store-error.ts';
import { copiedTables, type CopiedTable } from './copied-tables.ts';
import { copyMarker } from './marker.ts';
import { proveTable, type TableProof } from './prove-table.ts';
import { readTable } from './read-table.ts';
import { boundValues, plainValues, sizeOf, type PlainValue } from './row-values.ts';

export interface CopyRequest {
  /** The file of a service that has ended. */
  readonly from: Store;
  /** An empty database of a server, or one into which a copy was begun and did not end. */
  readonly to: Store;
  /** Of this program. */
  readonly version: string;
  /** A process that has beaten within this time is alive. */
  readonly leaseMs: number;
  /** Hears of what is done, a table at a time; waited for, and what it throws ends the copy. */
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
/** Somebody who is about to give the lock back may have it still. */
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
  // What fails at the target must not make the read begin anew: nothing is thrown through its transaction.
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

/** Rows of an interrupted copy go; any other row belongs to somebody. */
async function prepareTarget(target: Db, { told }: CopyRequest): Promise<void> {
  if (await hasMarker(target)) {
    for (const { name } of copiedTables) {
      const rows = await clear(target, name);
      if (rows > 0) await told?.({ step: 'cleared', table: name, rows });
    }
    // Only now: until the last row is gone nobody may start on them.
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
