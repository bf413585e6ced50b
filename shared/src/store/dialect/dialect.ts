import type { Instant } from '../../domain/index.ts';
import type { StoreError } from '../store-error.ts';
import type { Db } from '../database.ts';
import type { RawConnection } from './connection.ts';

/** Types of columns, one word for what each database calls it. `text` is short: it may be part of a key. */
export type ColumnType =
  | 'bigint'
  | 'int'
  | 'smallint'
  | 'double'
  | 'id16'
  /** Text of at most so many characters. */
  | { readonly text: number }
  /** Text that may pass 64 KB. */
  | 'longText'
  /** Bytes, at most 16 MB. */
  | 'bytes'
  /** The table's own ascending key; a number is never given twice. */
  | 'ownId';

/** 16 bytes as the driver wants them bound. */
type Id16Value = string | Buffer;

/** How one process at a time changes the schema. All of it runs on one connection, and the lock dies with that. */
interface MigrationRules {
  /** Limits for statements that may take long and must not make others wait long. Empty where the usual ones do. */
  readonly session: string;
  /** Makes the schema of the settings where it is absent. Empty where no schema can be named, or it has to exist. */
  readonly makeSchema: string;
  /** False: another process holds it; ask again. */
  tryLock(db: Db): Promise<boolean>;
  unlock(db: Db, failed: boolean): Promise<void>;
  /**
   * Around the statements of one step. Empty in SQLite, whose lock is a transaction already, and in MySQL, where CREATE commits
   * by itself: there the journal repeats a step that was cut short.
   */
  readonly beginStep: string;
  readonly endStep: string;
  readonly undoStep: string;
  /** The lock is one transaction around all steps: when one fails, none has been made. */
  readonly isOneTransaction: boolean;
}

/**
 * The lock of the leader: it belongs to a session and is free as soon as the server knows that this session is over. Names are words of
 * ours, letters, digits and spaces; each means another lock in each schema.
 */
export interface LeaderLockRules {
  /** Settings of such a session: the server ends it when its machine is silent for 10 s, or its client for the lease time. */
  session(leaseMs: number): readonly string[];
  /** Waits for the lock, in the server and not longer than a statement may take. True: the session has it. */
  waitForLock(db: Db, name: string): Promise<boolean>;
  /** Takes the lock if it is free now. */
  tryLock(db: Db, name: string): Promise<boolean>;
  unlock(db: Db, name: string): Promise<void>;
  /** Sessions of one installation may reach servers that know nothing of each other's locks. */
  isOfOneServer(db: Db): Promise<boolean>;
  /** Ends a session while a statement runs in it. */
  cut(connection: RawConnection): void;
}

/**
 * What differs between the databases, one object for each. Nothing outside this folder asks which one it is: a difference is
 * a line here, and where a member may be empty it says why.
 */
export interface Dialect {
  /** For people: log, health, storage statistics. Never to decide by. */
  readonly name: 'sqlite' | 'postgres' | 'mysql';

  /** Any UID as it is bound, in the 16 bytes of `toId16`; and those back as lower-case text. */
  id16(uid: string): Id16Value;
  id16Text(value: unknown): string;

  /** Rows of a SELECT, and the count of rows that a statement really changed, out of the driver's answer. */
  rowsOf(response: unknown): readonly Record<string, unknown>[];
  changedBy(response: unknown): number;

  /**
   * End of a SELECT that locks. `share`: others may read, none may change until our end. `update`: ours alone. `claim`: as
   * update, rows locked by others are passed over. Empty in SQLite: BEGIN IMMEDIATE lets only one writer in at a time.
   */
  readonly lock: { readonly share: string; readonly update: string; readonly claim: string };
  /** A transaction has the database for itself: what it has read stays so, and a SELECT that only locks is left out. */
  readonly isAlone: boolean;

  /** Ends an INSERT: a row whose key exists changes nothing and counts 0. Errors other than that key still throw. */
  ifAbsent(key: readonly string[]): string;
  /** Ends an INSERT: opens the list of assignments for a row whose key exists. */
  orUpdate(key: readonly string[]): string;
  /** The value that the INSERT wanted, in those assignments. */
  proposed(column: string): string;

  /** A parameter in a place from which the database cannot tell the type. */
  parameter(type: ColumnType): string;

  /** Deletes at most `limit` rows that match; `where` has placeholders. */
  deleteBatch(batch: { readonly table: string; readonly where: string; readonly limit: number }): string;
  /** Rows that one DELETE may take, so that the loop and the locks stay short. */
  readonly deleteBatchRows: number;

  /** The database's wall clock. Undefined in SQLite: it has none but ours. */
  now(db: Db): Promise<Instant | undefined>;

  /** Most connections the server takes. Undefined where there is no server. */
  maxConnections(db: Db): Promise<number | undefined>;

  /** A statement that writes and changes nothing: the proof that writes last again. */
  readonly writeProbe: string;
  /** Such as PostgreSQL 18.4. */
  version(db: Db): Promise<string>;
  /** Size of all rows and indexes on disk in bytes. Undefined when the account may not ask. */
  sizeBytes(db: Db): Promise<number | undefined>;

  /**
   * The schemas, or databases, of this server that hold tables of this product and that the account may read, its own among them. Empty in
   * SQLite: a file is one.
   */
  schemas(db: Db): Promise<readonly { readonly name: string; readonly isOwn: boolean }[]>;

  /** A statement after which the connection reads and writes the tables of this schema, or database. Empty in SQLite. */
  enterSchema(name: string): string;

  /**
   * Makes known which connection this leader's transaction runs on, and ends those of earlier leaders at a takeover. Both are
   * empty wherever the server itself ends a transaction that stands idle.
   */
  readonly takeover: {
    /** Called on a connection before each of its fenced transactions, outside of them. Writes once for each epoch. */
    registerConnection(db: Db, connection: RawConnection, epoch: number): Promise<void>;
    endOtherConnections(db: Db, holder: string): Promise<void>;
  };

  /** Undefined in SQLite: one process writes to one file. */
  readonly leaderLock: LeaderLockRules | undefined;

  /** The own ids of a table: the last one given, also where its row is gone; and what makes the next one follow `last`. */
  readonly ownIds: {
    last(db: Db, table: string): Promise<number>;
    continueAfter(table: string, last: number): readonly string[];
  };

  readonly migration: MigrationRules;
  columnType(type: ColumnType): string;
  /** What follows the closing bracket of CREATE TABLE. */
  tableOptions(options: { readonly churning?: boolean | undefined; readonly updated?: boolean | undefined }): string;
  /** An index within CREATE TABLE; empty where it is a statement of its own. */
  inlineIndex(name: string, columns: readonly string[], unique: boolean): string;
  /** CREATE INDEX that may be repeated; empty where indexes are part of CREATE TABLE. */
  createIndex(index: {
    readonly name: string;
    readonly table: string;
    readonly columns: readonly string[];
    readonly unique: boolean;
    /** Rows arrive in the order of this column: a summary of ranges is enough where the database has one. */
    readonly ordered?: boolean | undefined;
  }): string;
  /** Statements that give a table that exists an index, unless it has it. */
  addIndex(index: {
    readonly name: string;
    readonly table: string;
    readonly columns: readonly string[];
  }): readonly string[];

  /** Statements that give a table that exists columns which may be null, unless it has them where a step can be repeated (MySQL). */
  addColumns(of: { readonly table: string; readonly columns: Readonly<Record<string, ColumnType>> }): readonly string[];

  /** Statements that take an index away, if it is there. */
  dropIndex(index: { readonly table: string; readonly name: string }): readonly string[];

  /**
   * Gives columns that are never null a narrower type, where that makes rows smaller, unless the table has more than `mostRows`: it is
   * written anew, and writers wait for that.
   */
  narrowColumns(of: {
    readonly table: string;
    readonly columns: Readonly<Record<string, 'int' | 'tinyint'>>;
    readonly mostRows: number;
  }): readonly string[];
  /**
   * True where rows lie in a heap: the primary key is an index like any other, and an index may leave rows out. Elsewhere rows lie in a tree,
   * by their key (MySQL), or with a key that stays as it was made (SQLite).
   */
  readonly hasHeap: boolean;
  /** Both for a heap alone. Adds an index while rows are read and written, which takes a step of its own, outside of a transaction. */
  addIndexBesideWrites(index: {
    readonly name: string;
    readonly table: string;
    readonly columns: readonly string[];
    /** Rows that it has; all of them without. */
    readonly where?: string | undefined;
  }): readonly string[];
  /** Makes a unique index on these columns, which is there, the primary key. */
  movePrimaryKey(to: {
    readonly table: string;
    readonly index: string;
    readonly columns: readonly string[];
  }): readonly string[];

  /** Translates whatever driver, pool or query builder threw. */
  toError(error: unknown): StoreError;
}
