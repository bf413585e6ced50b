import type { Knex } from 'knex';
import type { Clock } from '../process/index.ts';
import { borrowConnection, firstRow } from './ask.ts';
import type { Db, Move, Tx } from './database.ts';
import { clientOf, type RawConnection } from './dialect/connection.ts';
import { retryReasonOf } from './observer.ts';
import { FencedError, StoreError } from './store-error.ts';

/** Repetitions of a whole transaction after the first attempt, and the base of the wait between them: 10 ms x 2^n, full jitter. */
const mostRepetitions = 5;
const baseWaitMs = 10;

interface TransactionDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Counts repetitions by their cause, for `transaction retries` of the metrics. */
  readonly onRepeat?: ((cause: 'busy' | 'unknownCommit') => void) | undefined;
  /** Told of what was moved, after the commit. */
  readonly onMoved?: ((moves: readonly Move[]) => void) | undefined;
}

/**
 * Runs `fn` in one transaction and repeats the whole of it where that is the cure: `busy` errors, and a COMMIT that got no
 * answer. Such a commit is unknown, not failed: the statements of `fn` are keyed, so running them again either finds their rows
 * or writes them.
 */
export async function transaction<T>(deps: TransactionDeps, fn: (tx: Tx) => Promise<T>, epoch?: number): Promise<T> {
  for (let repetition = 0; ; repetition++) {
    const moves: Move[] = [];
    const attempt = await runOnce(deps.db, (tx) => fn({ ...tx, moves }), epoch);
    const commitUnknown = 'error' in attempt && attempt.commitUnknown;
    if (moves.length > 0 && ('result' in attempt || commitUnknown)) deps.onMoved?.(moves);
    if ('result' in attempt) return attempt.result;

    const { error } = attempt;
    const again = commitUnknown || (error instanceof StoreError && error.retryable);
    if (!again || repetition === mostRepetitions) throw error;
    deps.onRepeat?.(commitUnknown ? 'unknownCommit' : 'busy');
    deps.db.observer?.repeated(retryReasonOf(error, commitUnknown));
    await deps.clock.sleep(Math.random() * baseWaitMs * 2 ** repetition);
  }
}

/** The same under the epoch: every statement of `fn` comes after a share lock on the leader's row. */
export async function fenced<T>(deps: TransactionDeps, epoch: number, fn: (tx: Tx) => Promise<T>): Promise<T> {
  const { dialect } = deps.db;
  const fence = `select holder from leader where id = 1 and epoch = ?${dialect.lock.share}`;
  const guarded = async (tx: Tx): Promise<T> => {
    const leader = await firstRow(tx, fence, [epoch]);
    if (leader === undefined) {
      deps.db.observer?.repeated('fenced');
      throw new FencedError(epoch);
    }
    return fn(tx);
  };
  return transaction(deps, guarded, epoch);
}

type Attempt<T> = { readonly result: T } | { readonly error: unknown; readonly commitUnknown: boolean };

async function runOnce<T>(db: Db, fn: (tx: Tx) => Promise<T>, epoch: number | undefined): Promise<Attempt<T>> {
  const client = clientOf(db.sql);
  let connection: RawConnection;
  try {
    connection = await borrowConnection(db);
  } catch (error) {
    db.troubles?.failed(error);
    return { error, commitUnknown: false };
  }

  if (epoch !== undefined) {
    try {
      await db.dialect.takeover.registerConnection({ ...db, connection }, connection, epoch);
    } catch (error) {
      await client.releaseConnection(connection);
      return { error, commitUnknown: false };
    }
  }

  let committing = false;
  let failure: { readonly error: unknown } | undefined;
  try {
    const result = await db.sql.transaction(
      async (trx: Knex.Transaction) => {
        // The builder comes here even when its BEGIN failed, and has then told the outside what went wrong.
        if (trx.isCompleted()) throw new StoreError('internal', 'the transaction did not begin');
        try {
          const value = await fn({ ...db, sql: trx, connection, epoch });
          committing = true;
          return value;
        } catch (error) {
          failure = { error };
          throw error;
        }
      },
      { connection },
    );
    return { result };
  } catch (error) {
    db.troubles?.failed(error); // a COMMIT is no statement of ours
    const commitUnknown = committing && error instanceof StoreError && isBroken(error);
    // A failed ROLLBACK would hide what made it necessary.
    return { error: failure === undefined ? error : failure.error, commitUnknown };
  } finally {
    await client.releaseConnection(connection);
  }
}

/** The answer, not the statement, is what is missing. */
function isBroken(error: StoreError): boolean {
  return error.code === 'unavailable' || error.code === 'timeout';
}
