import type { Knex } from 'knex';
import type { Instant } from '../domain/index.ts';
import type { Clock, Logger } from '../process/index.ts';
import type { RawConnection } from './dialect/connection.ts';
import type { StoreObserver } from './observer.ts';
import type { TroubleWatch } from './trouble.ts';
import type { Dialect } from './dialect/dialect.ts';
import type { StoreError } from './store-error.ts';

/** Asks a question together with those of other schemas that are the same; `alone` asks it by itself. */
export type AskTogether = (
  sql: string,
  bindings: readonly unknown[],
  alone: () => Promise<readonly Readonly<Record<string, unknown>>[]>,
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Where questions are asked: the pool, or one transaction. Callers outside this room hand it on and never look inside. */
export interface Db {
  readonly sql: Knex;
  readonly dialect: Dialect;
  /** The one connection that every statement runs on; absent: any of the pool. */
  readonly connection?: RawConnection | undefined;
  /** Its questions travel with those of other schemas; absent: each by itself. */
  readonly together?: AskTogether | undefined;
  readonly observer?: StoreObserver | undefined;
  /** Hears of every answer and every failure. */
  readonly troubles?: TroubleWatch | undefined;

  /**
   * The database's time: our wall clock plus the offset last measured (high-availability.md section 9). SQLite: our own
   * clock. Every instant written into rows that several processes compare is this one.
   */
  now(): Instant;
}

/** Where figures are other ones after a commit: in a namespace, around an alert, or, with neither, anywhere. */
export interface Move {
  readonly namespace?: string | undefined;
  readonly alertId?: string | undefined;
}

/** A running transaction: what writes takes one, so that a fact is one commit. It ends with the function it was given to. */
export interface Tx extends Db {
  readonly connection: RawConnection;
  /** The epoch it runs under; undefined where no leader writes. */
  readonly epoch: number | undefined;
  /** Rows that the transaction has moved so far; absent: not collected. */
  readonly moves?: Move[] | undefined;
}

/** One open database. A read may be asked of the store itself; it then runs by itself, outside any transaction. */
export interface Store extends Db {
  readonly clock: Clock;
  readonly log: Logger;

  /** Connections of the pool, and callers who wait for one. */
  connections(): { readonly used: number; readonly idle: number; readonly waiting: number };

  /** Database clock minus ours, milliseconds; undefined before the first measurement. */
  clockOffsetMs(): number | undefined;

  /**
   * Runs `fn` in one transaction, READ COMMITTED. A deadlock, a lock timeout or a serialization failure repeats the whole of
   * it, at most 5 times; so does a COMMIT without an answer. `fn` must therefore be repeatable: keyed statements, no effects
   * outside. Throws `StoreError`.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;

  /** The same for the leader: reads the epoch under a share lock first. Throws `FencedError` when it is not `epoch`. */
  fenced<T>(epoch: number, fn: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Calls the listener with what each transaction of this process moved once it is committed, or may be: a COMMIT without an answer
   * counts. What other processes write it does not hear of. Returns what ends it.
   */
  onMoves(listener: (moves: readonly Move[]) => void): () => void;

  /** What keeps the database from being used, with the sentence that says what to change; undefined while nothing does. */
  trouble(): StoreTrouble | undefined;

  /** Whether the database has answered since this store was opened. */
  hasAnswered(): boolean;

  /** Free bytes of the volume of a database file; undefined where there is a server, or the system does not tell. */
  volumeFreeBytes(): number | undefined;

  /**
   * One cheap question, and while the database takes no writes one small write. Throws `StoreError` while the database is away; logs one
   * line per change, not per call.
   */
  probe(): Promise<void>;

  /** Resolves when a probe succeeds. Tries every 1 to 30 s with jitter, without end. Rejects only when aborted. */
  waitUntilReady(signal: AbortSignal): Promise<void>;

  /** Lets running statements end, then closes every connection. Later calls throw `StoreError` with code `closed`. */
  close(): Promise<void>;
}

/** Why the database cannot be used now. */
interface StoreTrouble {
  readonly error: StoreError;
  /** When it began, monotonic milliseconds. */
  readonly sinceMs: number;
  /** The problem, its place and the remedy, without a full stop; it holds no secret. */
  readonly sentence: string;
}
