import type { Clock, Logger } from '../process/index.ts';
import type { AskTogether, Db, Move, Store } from './database.ts';
import { clientOf } from './dialect/connection.ts';
import { dialects } from './dialect/index.ts';
import type { ServerLimits } from './dialect/postgres.ts';
import { JointQuestions, neutralSchema } from './joint-questions.ts';
import type { StoreObserver } from './observer.ts';
import { openPool, SharedPool, type OpenPool } from './pool.ts';
import { inSchema } from './schemas.ts';
import type { ServerSettings, StoreSettings } from './settings.ts';
import { fenced, transaction } from './transaction.ts';
import { createTroubleWatch, describeTrouble, type TroubleWatch, lookAtVolume, tryToWrite } from './trouble.ts';
import { change, firstRow } from './ask.ts';
import { StoreError } from './store-error.ts';
import { textOf } from './dialect/network-errors.ts';

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
 * statement that waits does, or the two could not be told apart: only the first is a reason to begin anew.
 */
const lockMs = 4_000;
const idleInTransactionMs = 5_000;
const connectMs = 3_000;
/** Of the connections to other schemas, those that statements of several of them run on. */
const connectionsOfJoint = 8;

/**
 * Makes a store of these settings. Connects to nothing yet: connections are opened when first needed, and the caller waits
 * with `waitUntilReady`, which never gives up.
 */
export function openStore(settings: StoreSettings, deps: StoreDeps): Store {
  return storeOn(openPool(settings, limitsOf(deps), deps.clock), settings, deps);
}

/** Opens stores of other schemas of the same server. All of them together have few connections, however many they are. */
export function schemaOpener(settings: ServerSettings, deps: StoreDeps): (name: string) => Store {
  const shared = new SharedPool(settings, limitsOf(deps), deps.clock);
  const open = new Set<Store>();
  let joint: OpenPool | undefined;
  const questions = new JointQuestions({
    ...deps,
    dialect: dialects[settings.type],
    sql: () => {
      if (open.size === 0) throw new StoreError('closed', 'the stores are closed');
      joint ??= shared.borrowFor(neutralSchema, connectionsOfJoint);
      return joint.sql;
    },
  });
  return (name) => {
    const { sql, close } = shared.borrowFor(name);
    const closeOne = async (): Promise<void> => {
      await close();
      open.delete(store);
      if (open.size > 0) return;
      const last = joint;
      joint = undefined;
      await last?.close();
    };
    const store = storeOn({ sql, close: closeOne }, inSchema(settings, name), deps, questions.of(name));
    open.add(store);
    return store;
  };
}

function limitsOf({ statementLimitMs: statementMs = 5_000, limits }: StoreDeps): ServerLimits {
  return { statementMs, lockMs, idleInTransactionMs, connectMs, ...limits };
}

function storeOn({ sql, close }: OpenPool, settings: StoreSettings, deps: StoreDeps, together?: AskTogether): Store {
  const { clock, log } = deps;
  const closing = new AbortController();
  const offset = createClockOffset(clock);
  const troubles = createTroubleWatch(clock);
  const db: Db = {
    sql,
    dialect: dialects[settings.type],
    observer: deps.observer,
    together,
    troubles,
    now: () => clock.now() + (offset.currentMs() ?? 0),
  };
  offset.start(db, closing.signal);
  const probe = createProbe({ db, clock, log, settings, troubles, measureOffset: () => offset.measure(db) });
  const listeners = new Set<(moves: readonly Move[]) => void>();
  const onMoved = (moves: readonly Move[]): void => {
    for (const listener of listeners) listener(moves);
  };
  const transactions = { db, clock, onRepeat: deps.onRepeat, onMoved };

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
    onMoves(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
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
      await close();
    },
  };
}

const everyMs = 10_000;
const samples = 3;

interface ClockOffset {
  /** Database clock minus ours, milliseconds; undefined before the first measurement, and for ever in SQLite. */
  readonly currentMs: () => number | undefined;
  /** Measures now. Throws what the database throws. */
  readonly measure: (db: Db) => Promise<void>;
  /** Measures again every 10 s, once there is a first measurement. One that fails leaves the last one standing. */
  readonly start: (db: Db, signal: AbortSignal) => void;
}

/**
 * How far the database's clock is from ours: the middle of the round trip, the shortest of three (high-availability.md
 * section 9).
 */
function createClockOffset(clock: Clock): ClockOffset {
  /** Their clock minus our monotonic one: our wall clock may be set between two measurements, and nothing is early or late for it. */
  let aheadMs: number | undefined;

  const measure = async (db: Db): Promise<void> => {
    let shortestMs = Infinity;
    let best: number | undefined;
    for (let sample = 0; sample < samples; sample++) {
      const startedMs = clock.monotonicMs();
      const theirs = await db.dialect.now(db);
      const tookMs = clock.monotonicMs() - startedMs;
      if (theirs === undefined) return;
      if (tookMs < shortestMs) {
        shortestMs = tookMs;
        best = theirs - (startedMs + tookMs / 2);
      }
    }
    if (best !== undefined) aheadMs = best;
  };

  const start = (db: Db, signal: AbortSignal): void => {
    clock.every(
      everyMs,
      async () => {
        // While the database is away the last offset is the best there is; the probe says that it is away.
        if (aheadMs !== undefined) await measure(db).catch(() => {});
      },
      signal,
    );
  };

  const currentMs = (): number | undefined =>
    aheadMs === undefined ? undefined : Math.round(aheadMs + clock.monotonicMs()) - clock.now();

  return { currentMs, measure, start };
}

interface ProbeDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: StoreSettings;
  readonly troubles: TroubleWatch;
  readonly measureOffset: () => Promise<void>;
}

/** Waits between two tries: 1 s doubling to 30 s, with full jitter above the first second. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

interface Probe {
  readonly ask: () => Promise<void>;
  readonly wait: (signal: AbortSignal) => Promise<void>;
}

/** One cheap question to the database. It writes one log line when the answer is another than before, never one for each try. */
function createProbe(deps: ProbeDeps): Probe {
  const { db, log, settings, troubles } = deps;
  let lastSaid: string | undefined;

  const say = (what: string, write: () => void): void => {
    if (what === lastSaid) return;
    lastSaid = what;
    write();
  };

  const ask = async (): Promise<void> => {
    try {
      await firstRow(db, 'select 1 as one');
      if (troubles.current()?.error.code === 'full') await proveWrites(deps);
    } catch (error) {
      troubles.failed(error);
      const { code, driverCode } = error as StoreError;
      say(`${code} ${driverCode}`, () => {
        const fields = {
          code,
          driverCode,
          reason: describeTrouble(settings, error as StoreError),
          storage: settings.type,
        };
        // Waiting mends an outage; wrong credentials and a full volume need a person.
        if (code === 'refused') log.error('The database refuses us', fields);
        else if (code === 'full') log.error('The database takes no writes', fields);
        else log.warn('The database is not reachable', fields);
      });
      throw error;
    }
    if (lastSaid === 'connected') return;
    const before = lastSaid;
    lastSaid = 'connected'; // at once: several may ask at the same time, and one of them greets
    try {
      await greet(deps);
    } catch (error) {
      lastSaid = before;
      throw error;
    }
  };

  const wait = async (signal: AbortSignal): Promise<void> => {
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted();
      try {
        await ask();
        return;
      } catch (error) {
        if (error instanceof StoreError && error.code === 'closed') throw error;
      }
      const ceiling = Math.min(longestWaitMs, firstWaitMs * 2 ** tries);
      await deps.clock.sleep(firstWaitMs + Math.random() * (ceiling - firstWaitMs), signal);
    }
  };

  return { ask, wait };
}

/** A database that took no writes answers questions all the same: it is back when a write has lasted. */
async function proveWrites({ db, settings, troubles }: ProbeDeps): Promise<void> {
  if (settings.type === 'sqlite') {
    await tryToWrite(settings.path).catch((error: unknown) => {
      throw toSystemError(error);
    });
  }
  await change(db, db.dialect.writeProbe).catch((error: unknown) => {
    // Before the first migration there is nothing to write to: the migration is the proof then.
    if (!(error instanceof StoreError && error.code === 'schema')) throw error;
  });
  troubles.wrote();
}

/** At each return of the database: what it is, and how far its clock is from ours. */
async function greet({ db, log, settings, measureOffset }: ProbeDeps): Promise<void> {
  await measureOffset();
  const version = await db.dialect.version(db);
  log.info('The database is connected', { storage: settings.type, version });
}

const noWrites = new Set(['ENOSPC', 'EROFS', 'EDQUOT', 'EFBIG', 'EPERM', 'EACCES']);

/** What the operating system says of a file of the database, in our words. */
function toSystemError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = textOf(error, 'code');
  return code !== undefined && noWrites.has(code)
    ? new StoreError('full', 'the database file takes no writes', { driverCode: code })
    : new StoreError('unavailable', 'the database file cannot be reached', { driverCode: code });
}
