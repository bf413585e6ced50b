import type { Knex } from 'knex';
import { open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../process/index.ts';
import { change, rows, type Row } from '../ask.ts';
import { bytesOfId16, id16OfBytes, toId16 } from '../id16.ts';
import type { SqliteSettings } from '../settings.ts';
import { StoreError } from '../store-error.ts';
import { storeClient, type RawConnection, type RawQuery } from './connection.ts';
import type { ColumnType, Dialect } from './dialect.ts';
import { poolTimeout, textOf, toNetworkError } from './network-errors.ts';
import type Database from 'better-sqlite3';
import SqliteClient from 'knex/lib/dialects/better-sqlite3/index.js';

export const sqlite: Dialect = {
  name: 'sqlite',
  id16: (uid) => bytesOfId16(toId16(uid)),
  id16Text: (value) => id16OfBytes(value as Buffer),
  rowsOf: (response) => response as Row[],
  changedBy: (response) => (response as { changes: number }).changes,
  lock: { share: '', update: '', claim: '' },
  isAlone: true,
  ifAbsent: (key) => ` on conflict (${key.join(', ')}) do nothing`,
  orUpdate: (key) => ` on conflict (${key.join(', ')}) do update set `,
  proposed: (column) => `excluded."${column}"`,
  parameter: () => '?',
  deleteBatch: ({ table, where, limit }) =>
    `delete from ${table} where rowid in (select rowid from ${table} where ${where} limit ${limit})`,
  deleteBatchRows: 500,
  now: async () => undefined,
  maxConnections: async () => undefined,
  // The number is not ours to use, and setting it writes a page.
  writeProbe: 'pragma user_version = 0',
  version: async (db) => `SQLite ${String((await rows(db, 'select sqlite_version() as version'))[0]?.['version'])}`,
  sizeBytes: async (db) => {
    const pages = await rows(db, 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size');
    return Number(pages[0]?.['bytes']);
  },
  // A dead process holds no lock; a frozen one makes the takeover wait until it moves.
  takeover: { registerConnection: async () => {}, endOtherConnections: async () => {} },
  schemas: async () => [],
  enterSchema: () => '',
  leaderLock: undefined,
  ownIds: {
    last: async (db, table) =>
      Number((await rows(db, 'select seq from sqlite_sequence where name = ?', [table]))[0]?.['seq'] ?? 0),
    continueAfter: (table, last) => [
      `delete from sqlite_sequence where name = '${table}'`,
      `insert into sqlite_sequence (name, seq) values ('${table}', ${last})`,
    ],
  },
  migration: {
    session: '',
    makeSchema: '',
    // One file has one writer: the transaction that migrates is the lock. It waits as long as the busy timeout.
    tryLock: async (db) => {
      try {
        await change(db, 'begin exclusive');
        return true;
      } catch (error) {
        if (error instanceof StoreError && error.code === 'busy') return false;
        throw error;
      }
    },
    unlock: async (db, failed) => {
      try {
        await change(db, failed ? 'rollback' : 'commit');
      } catch (error) {
        // A commit that found no room may leave the transaction open, on the one connection that there is.
        await change(db, 'rollback').catch(() => 0);
        throw error;
      }
    },
    beginStep: '',
    endStep: '',
    undoStep: '',
    isOneTransaction: true,
  },
  columnType,
  tableOptions: () => ' strict',
  inlineIndex: () => '',
  createIndex: ({ name, table, columns, unique }) =>
    `create ${unique ? 'unique ' : ''}index if not exists ${name} on ${table} (${columns.map((c) => `"${c}"`).join(', ')})`,
  addIndex: ({ name, table, columns }) => [
    `create index if not exists ${name} on ${table} (${columns.map((c) => `"${c}"`).join(', ')})`,
  ],
  addColumns: ({ table, columns }) =>
    Object.entries(columns).map(([name, type]) => `alter table ${table} add column "${name}" ${columnType(type)}`),
  dropIndex: ({ name }) => [`drop index if exists ${name}`],
  // A number takes as many bytes as it needs.
  narrowColumns: () => [],
  hasHeap: false,
  addIndexBesideWrites: () => [],
  movePrimaryKey: () => [],
  toError: toSqliteError,
};

function columnType(type: ColumnType): string {
  if (typeof type === 'object' || type === 'longText') return 'text';
  switch (type) {
    case 'ownId':
      return 'integer primary key autoincrement';
    case 'id16':
    case 'bytes':
      return 'blob';
    case 'double':
      return 'real';
    default:
      return 'integer';
  }
}

/** Longest run of statements without giving way: timers, sockets and probes have their turn in between. */
const turnMs = 3;
const keptStatements = 300;

/** The client for one file: one connection, prepared statements kept, every transaction BEGIN IMMEDIATE. */
export function sqliteClient(settings: SqliteSettings, clock: Clock): typeof Knex.Client {
  /** When the first statement of this turn of the event loop ran; undefined: no statement has run. */
  let turnBeganMs: number | undefined;
  const noteTurn = (): number => {
    setImmediate(() => (turnBeganMs = undefined));
    return clock.monotonicMs();
  };

  class FileClient extends SqliteClient {
    // oxlint-disable-next-line no-underscore-dangle -- the builder's own name for what a driver is asked
    override async _query(connection: FileConnection, query: RawQuery): Promise<RawQuery> {
      // The query builder begins with a plain BEGIN. A read that turns into a write then fails at once, whatever the timeout.
      const sql = query.sql === 'BEGIN;' ? 'BEGIN IMMEDIATE' : query.sql;
      const bindings = (query.bindings ?? []).map((value) => (value === undefined ? null : value));
      turnBeganMs ??= noteTurn();
      const statement = prepared(connection, sql);
      if (statement.reader) {
        query.response = statement.all(bindings);
      } else {
        const done = statement.run(bindings);
        query.response = done;
        query.context = { lastID: done.lastInsertRowid, changes: done.changes };
      }
      // The driver blocks, and awaiting it lets only other promises run.
      if (clock.monotonicMs() - turnBeganMs > turnMs) await nextTurn();
      return query;
    }
  }

  return storeClient(FileClient, {
    options: async () => {
      await createPrivately(settings.path);
      return { filename: settings.path, options: {} };
    },
    prepare: async (connection) => setPragmas(connection as unknown as Database.Database),
    toError: toSqliteError,
    answerLimit: undefined,
    cut: () => {},
  });
}

/** The database holds logs and messages, so a new file is readable by its account alone. SQLite gives the files beside it the same mode. */
async function createPrivately(path: string): Promise<void> {
  if (path === ':memory:') return;
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch {
    // An existing file keeps its mode; for a file that cannot be made, SQLite reports why.
  }
}

interface FileConnection extends RawConnection {
  prepare(sql: string): Database.Statement;
  keptStatements?: Map<string, Database.Statement>;
}

/** A statement compiled before, or compiled now; the least recently used one goes when there are too many. */
function prepared(connection: FileConnection, sql: string): Database.Statement {
  const kept = (connection.keptStatements ??= new Map());
  const statement = kept.get(sql) ?? connection.prepare(sql);
  kept.delete(sql);
  kept.set(sql, statement);
  if (kept.size > keptStatements) {
    const oldest = kept.keys().next();
    if (!oldest.done) kept.delete(oldest.value);
  }
  return statement;
}

/** Sets what the file must be opened with and reads it back: a file system that cannot do WAL does not refuse it, it ignores it. */
function setPragmas(file: Database.Database): void {
  file.pragma('busy_timeout = 5000');
  const wanted: readonly [string, string, number | string][] = [
    ['journal_mode', 'wal', 'wal'],
    ['synchronous', 'full', 2],
    ['journal_size_limit', '67108864', 67108864],
    ['busy_timeout', '5000', 5000],
    ['foreign_keys', 'off', 0],
    ['trusted_schema', 'off', 0],
  ];
  for (const [name, value, readBack] of wanted) {
    file.pragma(`${name} = ${value}`);
    const now: unknown = file.pragma(name, { simple: true });
    if (now !== readBack) {
      throw new StoreError(
        'refused',
        'the database file cannot be opened as needed: a local file system with WAL is required',
        {
          driverCode: `${name}=${String(now)}`,
        },
      );
    }
  }
}

/** Result codes to our words. https://www.sqlite.org/rescode.html */
export function toSqliteError(error: unknown): StoreError {
  const code = textOf(error, 'code') ?? '';
  const message = textOf(error, 'message') ?? '';
  if (!code.startsWith('SQLITE_')) {
    const network = toNetworkError(error);
    // A file is there while all its connections wait for a lock on it.
    if (network?.driverCode === poolTimeout)
      return new StoreError('busy', 'no connection to the database file was free in time', { driverCode: poolTimeout });
    if (network) return network;
    if (message === 'The database connection is not open') return new StoreError('closed', 'the store is closed');
    if (/directory does not exist/.test(message)) {
      return new StoreError('unavailable', 'the folder of the database file does not exist', {
        driverCode: 'NO_FOLDER',
      });
    }
    return new StoreError('internal', 'the database driver failed', { driverCode: textOf(error, 'name') });
  }

  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new StoreError('busy', 'another process holds the database file', { driverCode: code, retryable: true });
  }
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    // "UNIQUE constraint failed: table.column, table.column" names columns only.
    const columns = /failed: ([\w.]+(?:, [\w.]+)*)$/.exec(message)?.[1];
    return StoreError.ofServer('conflict', {
      driverCode: code,
      constraint: columns,
      table: columns?.split('.')[0],
    });
  }
  // A page or the index of the log that cannot be written: the volume is full, or it has become read-only.
  if (/^SQLITE_(FULL|READONLY|IOERR_(WRITE|TRUNCATE|FSYNC|DIR_FSYNC|SHMSIZE|SHMOPEN|DELETE)$)/.test(code)) {
    return new StoreError('full', 'the database file takes no writes', { driverCode: code });
  }
  if (/^SQLITE_(IOERR|CANTOPEN|PROTOCOL)/.test(code)) {
    return new StoreError('unavailable', 'the database file cannot be reached', { driverCode: code });
  }
  if (/^SQLITE_(CORRUPT|NOTADB|PERM|AUTH)/.test(code)) {
    return new StoreError('refused', 'the database file is not usable', { driverCode: code });
  }
  if (/^no such (table|column)|has no column named/.test(message)) {
    return StoreError.ofServer('schema', { driverCode: code });
  }
  return new StoreError('internal', 'the database failed', { driverCode: code });
}
