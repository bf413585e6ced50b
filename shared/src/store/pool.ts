import knex, { type Knex } from 'knex';
import type { Clock } from '../process/index.ts';
import {
  borrowingClient,
  clientOf,
  closeIdle,
  mayBeLent,
  type Lender,
  type RawConnection,
} from './dialect/connection.ts';
import { dialects } from './dialect/index.ts';
import { mysqlClient } from './dialect/mysql.ts';
import { postgresClient, type ServerLimits } from './dialect/postgres.ts';
import { sqliteClient } from './dialect/sqlite.ts';
import type { ServerSettings, StoreSettings } from './settings.ts';

/** Connections as a store has them: of its own, or borrowed. */
export interface OpenPool {
  readonly sql: Knex;
  readonly close: () => Promise<void>;
}

const sweepEveryMs = 30_000;
/** The longest delay a timer takes. */
const never = 2 ** 31 - 1;

/** Connects to nothing yet: connections are opened when first needed. */
export function openPool(settings: StoreSettings, limits: ServerLimits, clock: Clock): OpenPool {
  if (settings.type === 'sqlite') {
    // One connection for the life of the process: never idle, never too old.
    const pool = { min: 0, max: 1, idleTimeoutMillis: never };
    const sql = makePool(sqliteClient(settings, clock), { pool, limits });
    return { sql, close: () => sql.destroy() };
  }
  const { pool } = settings;
  const sql = makePool(clientFor(settings, limits, clock), {
    pool: {
      min: 0,
      max: pool.maxOpenConns,
      idleTimeoutMillis: pool.connMaxIdleTimeMs || never,
      reapIntervalMillis: 1_000,
      // Validated at each loan: an older connection is closed and another one opened.
      ...(pool.connMaxLifetimeMs > 0 && { maxConnectionLifetimeMillis: pool.connMaxLifetimeMs }),
    },
    limits,
  });
  const closing = new AbortController();
  // The pool itself knows only how long a connection may be idle, not how many may be.
  clock.every(sweepEveryMs, () => closeIdle(clientOf(sql).pool, pool.maxIdleConns), closing.signal);
  return {
    sql,
    close: async () => {
      closing.abort();
      await sql.destroy();
    },
  };
}

function clientFor(settings: ServerSettings, limits: ServerLimits, clock: Clock): typeof Knex.Client {
  return (settings.type === 'postgres' ? postgresClient : mysqlClient)(settings, limits, clock);
}

function makePool(
  client: typeof Knex.Client,
  { pool, limits: { connectMs } }: { readonly pool: Record<string, number>; readonly limits: ServerLimits },
): Knex {
  return knex({
    client,
    // Asked anew for each connection by our client; the builder only wants to see one before it makes a pool.
    connection: {},
    pool: { ...pool, validate: mayBeLent, acquireTimeoutMillis: connectMs, createTimeoutMillis: connectMs + 2_000 },
    useNullAsDefault: true,
    compileSqlOnError: false,
    // Its messages hold connection errors as the driver worded them; ours are logged by the caller.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
}

function ignore(): void {}

/**
 * Connections to all other schemas together, and to one of them: one that answers nothing holds no more, and a list of all moves no more of them
 * into its schema than it needs.
 */
const connectionsOfOthers = 20;
const connectionsOfOne = 2;
const idleOfOthers = 4;
const idleMs = 60_000;
/** So long a connection stays in its schema for the next statement, unless another one needs it. */
const keptMs = 1_000;

/**
 * The connections to the other schemas of a server: however many there are, they share a few. A connection is in the schema of its last
 * borrower, and is moved when another one borrows it.
 */
export class SharedPool {
  readonly #settings: ServerSettings;
  readonly #limits: ServerLimits;
  readonly #clock: Clock;
  readonly #schemaOf = new WeakMap<RawConnection, string>();
  /** Open while anything borrows of it. */
  #pool: OpenPool | undefined;
  readonly #borrowers = new Set<Knex>();

  constructor(settings: ServerSettings, limits: ServerLimits, clock: Clock) {
    const pool = { ...settings.pool, maxIdleConns: idleOfOthers, maxOpenConns: connectionsOfOthers };
    this.#settings = { ...settings, pool: { ...pool, connMaxIdleTimeMs: idleMs } };
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `most`: connections that it has at once. */
  borrowFor(schema: string, most: number = connectionsOfOne): OpenPool {
    this.#pool ??= openPool(this.#settings, this.#limits, this.#clock);
    const { sql: lent } = this.#pool;
    const lender: Lender = {
      lend: () => this.#lend(lent, schema),
      takeBack: (connection) => clientOf(lent).releaseConnection(connection),
      isShort: () => clientOf(lent).pool.numPendingAcquires() > 0,
    };
    const client = borrowingClient(clientFor(this.#settings, this.#limits, this.#clock), lender);
    const pool = { min: 0, max: most, idleTimeoutMillis: keptMs, reapIntervalMillis: keptMs };
    const sql = makePool(client, { pool, limits: this.#limits });
    this.#borrowers.add(sql);
    return {
      sql,
      close: async () => {
        await sql.destroy();
        this.#borrowers.delete(sql);
        if (this.#borrowers.size > 0) return;
        const last = this.#pool;
        this.#pool = undefined;
        await last?.close();
      },
    };
  }

  async #lend(lent: Knex, schema: string): Promise<RawConnection> {
    const client = clientOf(lent);
    const { pool } = client;
    if (pool.numFree() === 0 && pool.numUsed() >= connectionsOfOthers) this.#recall();
    const connection = await client.acquireConnection();
    if (this.#schemaOf.get(connection) === schema) return connection;
    try {
      this.#schemaOf.delete(connection);
      await client.query(connection, { sql: dialects[this.#settings.type].enterSchema(schema) });
      this.#schemaOf.set(connection, schema);
      return connection;
    } catch (error) {
      await client.releaseConnection(connection);
      throw error;
    }
  }

  /** What other borrowers keep and do not use comes back. */
  #recall(): void {
    for (const borrower of this.#borrowers) closeIdle(clientOf(borrower).pool, 0);
  }
}
