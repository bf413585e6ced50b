import knex, { type Knex } from 'knex';
import type { Clock, Logger } from '../process/index.ts';
import { createClockOffset } from './clock-offset.ts';
import type { Db, Store } from './database.ts';
import { clientOf, mayBeLent } from './dialect/connection.ts';
import { dialects } from './dialect/index.ts';
import { mysqlClient } from './dialect/mysql.ts';
import { postgresClient, type ServerLimits } from './dialect/postgres.ts';
import { sqliteClient } from './dialect/sqlite.ts';
import { startIdleSweep } from './idle-sweep.ts';
import type { StoreObserver } from './observer.ts';
import { createProbe } from './probe.ts';
import type { StoreSettings } from './settings.ts';
import { fenced, transaction } from './transaction.ts';
import { createTroubleWatch, describeTrouble } from './trouble.ts';
import { lookAtVolume } from './volume.ts';

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Longest statement: 5 s for the controller, 10 s for the apiserver's reads. SQLite has none, its rows are bounded. */
  readonly statementLimitMs?: number | undefined;
  /** Other waits, where the usual ones are too long: in tests. */
  readonly limits?: Partial<Pick<ServerLimits, 'lockMs' | 'idleInTransactionMs'>> | undefined;
  readonly observer?: StoreObserver | undefined;
  /** Hears of every repeated transaction; see transaction(). */
  readonly onRepeat?: ((cause: 'busy' | 'unknownCommit') => void) | undefined;
}

/**
 * Limits of storage.md section 3: lock, idle in a transaction, a connection from the pool. The wait for a lock ends before the
 * statement that waits does, or nobody could tell one from the other: only the first is a reason to begin anew.
 */
const lockMs = 4_000;
const idleInTransactionMs = 5_000;
const connectMs = 3_000;

/**
 * Makes a store of these settings. Connects to nothing yet: connections are opened when first needed, and the caller waits
 * with `waitUntilReady`, which never gives up.
 */
export function openStore(settings: StoreSettings, deps: StoreDeps): Store {
  const { clock, log } = deps;
  const statementMs = deps.statementLimitMs ?? 5_000;
  const sql = openPool(settings, { statementMs, lockMs, idleInTransactionMs, connectMs, ...deps.limits }, clock);
  const closing = new AbortController();
  const offset = createClockOffset(clock);
  const troubles = createTroubleWatch(clock);
  const db: Db = {
    sql,
    dialect: dialects[settings.type],
    observer: deps.observer,
    troubles,
    now: () => clock.now() + (offset.currentMs() ?? 0),
  };
  offset.start(db, closing.signal);
  const probe = createProbe({ db, clock, log, settings, troubles, measureOffset: () => offset.measure(db) });
  if (settings.type !== 'sqlite') startIdleSweep(sql, settings.pool.maxIdleConns, clock, closing.signal);
  const transactions = { db, clock, onRepeat: deps.onRepeat };

  return {
    ...db,
    clock,
    log,
    connections: () => {
      const { pool } = clientOf(sql);
      return { used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires() };
    },
    clockOffsetMs: offset.currentMs,
    transaction: (fn) => transaction(transactions, fn),
    fenced: (epoch, fn) => fenced(transactions, epoch, fn),
    trouble: () => {
      const trouble = troubles.current();
      return trouble && { ...trouble, sentence: describeTrouble(settings, trouble.error) };
    },
    hasAnswered: () => troubles.hasAnswered(),
    volumeFreeBytes: () => (settings.type === 'sqlite' ? lookAtVolume(settings.path).freeBytes : undefined),
    probe: probe.ask,
    waitUntilReady: probe.wait,
    close: async () => {
      closing.abort();
      await sql.destroy();
    },
  };
}

function openPool(settings: StoreSettings, limits: ServerLimits, clock: Clock): Knex {
  if (settings.type === 'sqlite') {
    // One connection for the life of the process: never idle, never too old.
    return makePool(sqliteClient(settings, clock), { min: 0, max: 1, idleTimeoutMillis: never });
  }
  const { pool } = settings;
  const client = settings.type === 'postgres' ? postgresClient(settings, limits) : mysqlClient(settings, limits);
  return makePool(client, {
    min: 0,
    max: pool.maxOpenConns,
    idleTimeoutMillis: pool.connMaxIdleTimeMs || never,
    reapIntervalMillis: 1_000,
    // Validated at each loan: an older connection is closed and another one opened.
    ...(pool.connMaxLifetimeMs > 0 && { maxConnectionLifetimeMillis: pool.connMaxLifetimeMs }),
  });
}

/** The longest delay a timer takes. */
const never = 2 ** 31 - 1;

function makePool(client: typeof Knex.Client, pool: Record<string, number>): Knex {
  return knex({
    client,
    // Asked anew for each connection by our client; the builder only wants to see one before it makes a pool.
    connection: {},
    pool: { ...pool, validate: mayBeLent, acquireTimeoutMillis: connectMs, createTimeoutMillis: connectMs + 2_000 },
    useNullAsDefault: true,
    compileSqlOnError: false,
    // Its messages hold connection errors as the driver worded them; ours are logged by whoever asked.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
}

function ignore(): void {}
