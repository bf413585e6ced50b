// The query builder's own names begin with underscores.
/* oxlint-disable no-underscore-dangle */
import type { Knex } from 'knex';
import type { Clock } from '../../process/index.ts';
import { StoreError } from '../store-error.ts';

/** A driver's connection as the pool hands it out: each driver has its own. */
export type RawConnection = object;

const retired = new WeakSet<RawConnection>();

/** From here on the pool closes this connection instead of lending it again. */
export function retireConnection(connection: RawConnection): void {
  retired.add(connection);
}

/** The pool asks before it lends a connection. */
export function mayBeLent(connection: RawConnection): boolean {
  return !retired.has(connection);
}

export interface RawQuery {
  sql: string;
  bindings?: readonly unknown[] | undefined;
  /** How long this statement waits for any answer, in place of the client's limit. */
  options?: { readonly ms: number } | undefined;
  response?: unknown;
  /** What the builder reads of a SQLite statement that gives no rows. */
  context?: { lastID: number | bigint; changes: number };
}

/** The part of the query builder's client that we call ourselves. */
interface RawClient {
  acquireConnection(): Promise<RawConnection>;
  /** One beside the pool; the caller closes it. */
  acquireRawConnection(): Promise<RawConnection>;
  destroyRawConnection(connection: RawConnection): Promise<unknown>;
  releaseConnection(connection: RawConnection): Promise<void>;
  query(connection: RawConnection, query: RawQuery): Promise<RawQuery>;
  /** Its connections are those of another pool. */
  readonly isBorrower?: boolean;
  readonly pool: {
    readonly max: number;
    numUsed(): number;
    numFree(): number;
    numPendingAcquires(): number;
    check(): void;
    readonly free: { timestamp: number }[];
  };
}

/** The client behind a query builder: `client` is public there, but has no type. */
export function clientOf(sql: Knex): RawClient {
  return sql.client as RawClient;
}

interface AnswerLimit {
  readonly clock: Clock;
  readonly ms: number;
}

interface ConnectionHooks {
  /** Options of a new connection, asked anew each time: password and certificate files may have changed. */
  readonly options: () => Promise<Record<string, unknown>>;
  /** Sets the limits of a fresh connection. */
  readonly prepare: (connection: RawConnection, ask: (sql: string) => Promise<unknown>) => Promise<void>;
  readonly toError: (error: unknown) => StoreError;
  /** How long to wait for any answer, beyond the server's own limits; undefined where there is no server. */
  readonly answerLimit: AnswerLimit | undefined;
  /** Ends a connection whose server does not answer, without a farewell. */
  readonly cut: (connection: RawConnection) => void;
}

/**
 * A client class of the query builder with our connections and our errors: what a driver throws is translated where it is
 * thrown, before it can be logged, and a connection that broke or did not answer in time is never lent again.
 */
export function storeClient(Base: KnexClientClass, hooks: ConnectionHooks): typeof Knex.Client {
  class StoreClient extends Base {
    #isClosing = false;

    // A pool that is being closed lends nothing any more, and would let its callers wait until their time is over.
    override async destroy(callback?: () => void): Promise<void> {
      this.#isClosing = true;
      return super.destroy(callback);
    }

    override async acquireRawConnection(): Promise<never> {
      try {
        this.connectionSettings = await hooks.options();
        const connection: RawConnection = await super.acquireRawConnection();
        try {
          await hooks.prepare(connection, (sql) => super._query(connection, { sql, bindings: [] }));
        } catch (error) {
          hooks.cut(connection);
          throw error;
        }
        return connection as never;
      } catch (error) {
        throw hooks.toError(error);
      }
    }

    override async acquireConnection(): Promise<never> {
      if (this.#isClosing) throw new StoreError('closed', 'the store is closed');
      try {
        return await super.acquireConnection();
      } catch (error) {
        throw hooks.toError(error);
      }
    }

    // Translated here and not further up: on its way the builder writes the SQL into the message of whatever was thrown.
    override async _query(connection: RawConnection, query: RawQuery): Promise<unknown> {
      const limit = hooks.answerLimit && { ...hooks.answerLimit, ...query.options };
      delete query.options; // The drivers would take it for theirs.
      try {
        return await answerWithin(limit, super._query(connection, query));
      } catch (error) {
        const translated = hooks.toError(error);
        if (translated.code === 'unavailable' || translated.driverCode === noAnswer) {
          retireConnection(connection);
          hooks.cut(connection);
        }
        throw translated;
      }
    }
  }
  // The builder's own type of a client class lists its whole inside; ours is one by inheritance.
  return StoreClient as unknown as typeof Knex.Client;
}

/** A pool whose connections others borrow. */
export interface Lender {
  lend(): Promise<RawConnection>;
  takeBack(connection: RawConnection): Promise<unknown>;
  /** Another borrower waits for a connection. */
  isShort(): boolean;
}

/** The same client on borrowed connections. One that is idle goes back after a moment, and at once where another borrower waits. */
export function borrowingClient(Client: typeof Knex.Client, lender: Lender): typeof Knex.Client {
  class BorrowingClient extends (Client as unknown as KnexClientClass) {
    readonly isBorrower = true;

    override async acquireRawConnection(): Promise<never> {
      return (await lender.lend()) as never;
    }

    override async destroyRawConnection(connection: RawConnection): Promise<unknown> {
      return lender.takeBack(connection);
    }

    override async releaseConnection(connection: RawConnection): Promise<void> {
      await super.releaseConnection(connection);
      if (lender.isShort()) closeIdle(this.pool as RawClient['pool'], 0);
    }
  }
  return BorrowingClient as unknown as typeof Knex.Client;
}

/** Closes idle connections but for the last `most` that were used. */
export function closeIdle(pool: RawClient['pool'], most: number): void {
  // The pool lends its newest free connection first. What seems idle since ever is closed at its next check.
  const surplus = pool.free.slice(0, Math.max(0, pool.numFree() - most));
  for (const idle of surplus) idle.timestamp = -Infinity;
  if (surplus.length > 0) pool.check();
}

/** One for all: without a reason the abort of each statement would make an error with a trace of its own. */
const hasAnswered = new Error('the database has answered');

/** A driver's own limit would go on after a connection that broke under the statement. */
async function answerWithin<T>(limit: AnswerLimit | undefined, answer: Promise<T>): Promise<T> {
  if (limit === undefined) return answer;
  const answered = new AbortController();
  const late = limit.clock.sleep(limit.ms, answered.signal).then(
    () => {
      throw new StoreError('timeout', 'the database did not answer in time', { driverCode: noAnswer });
    },
    () => answer,
  );
  return Promise.race([answer, late]).finally(() => answered.abort(hasAnswered));
}

/** Driver code of a statement that got no answer within its limit: the connection's state is unknown. */
export const noAnswer = 'NO_ANSWER';
