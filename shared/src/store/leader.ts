import { randomBytes } from 'node:crypto';
import type { Instant } from '../domain/index.ts';
import { change, firstRow } from './ask.ts';
import { optionalNumber, optionalText } from './column.ts';
import type { Db, Store } from './database.ts';
import { clientOf } from './dialect/connection.ts';
import type { LeaderLockRules } from './dialect/dialect.ts';
import { StoreError } from './store-error.ts';

/** The last leader. Epoch 0: no leader yet. */
interface Leader {
  readonly epoch: number;
  readonly holder: string | undefined;
  readonly sinceAt: Instant | undefined;
}

/**
 * Raises the epoch and takes it: from then on no transaction of an earlier leader can commit (high-availability.md section 3).
 * Waits while one is open, until it ends or is ended by the server. Where the server never ends one, its connection is ended
 * here. Returns the new epoch. Throws `StoreError` `busy` when an earlier leader's transaction stood in the way all the time.
 */
export async function takeEpoch(store: Store, holder: string): Promise<number> {
  await store.dialect.takeover.endOtherConnections(store, holder);
  return store.transaction(async (tx) => {
    await change(tx, `${raiseEpoch} where id = 1`, [holder, store.now()]);
    const row = await firstRow(tx, 'select epoch from leader where id = 1');
    return Number(row?.['epoch']);
  });
}

const raiseEpoch = 'update leader set epoch = epoch + 1, holder = ?, since_at = ?';

/** The same when the epoch is still the one that was seen. Undefined: another process has taken it since. */
export async function takeEpochAfter(store: Store, holder: string, seen: number): Promise<number | undefined> {
  const taken = await change(store, `${raiseEpoch} where id = 1 and epoch = ?`, [holder, store.now(), seen]);
  return taken === 1 ? seen + 1 : undefined;
}

/** The epoch now in force and who took it. */
export async function getLeader(db: Db): Promise<Leader> {
  const row = await firstRow(db, 'select epoch, holder, since_at from leader where id = 1');
  return {
    epoch: Number(row?.['epoch'] ?? 0),
    holder: optionalText(row?.['holder']),
    sinceAt: optionalNumber(row?.['since_at']),
  };
}

/** A connection beside the pool on which a replica waits for the lock of the leader, and keeps it. */
export interface LockSession {
  /** Waits in the server, for some seconds at most. True: the lock is ours until the session ends. Throws `StoreError` when it has ended. */
  waitForLock(): Promise<boolean>;
  /** One cheap question. Throws `StoreError` when the session has ended. */
  ping(): Promise<void>;
  /** Gives the lock back and keeps the session. */
  unlock(): Promise<void>;
  /** Ends the session, and with it the lock. Never rejects. */
  close(): Promise<void>;
}

const lockName = 'leader';
/** Of a probe, which is over at once. */
const probeMs = 10_000;

/** Opens such a session. Throws `StoreError`. Only where `canExclude` says that it is of use. */
export function openLockSession(store: Store, { leaseMs }: { readonly leaseMs: number }): Promise<LockSession> {
  return open(store, lockName, leaseMs);
}

/**
 * Whether the lock of the leader keeps a second session out. It does not behind a proxy that hands out sessions by the statement, on a
 * server that only pretends to know it, and between servers of one cluster. Throws `StoreError` while the database is away.
 */
export async function canExclude(store: Store): Promise<boolean> {
  const { leaderLock } = store.dialect;
  if (leaderLock === undefined) return false;
  const sessions: LockSession[] = [];
  try {
    // Not the lock itself: a leader may have it.
    const name = `probe ${randomBytes(8).toString('hex')}`;
    for (let number = 0; number < 2; number++) sessions.push(await open(store, name, probeMs));
    const [first, second] = sessions as [OwnSession, OwnSession];
    if (!(await leaderLock.isOfOneServer(first.db))) return false;
    return (await first.tryLock()) && !(await second.tryLock());
  } catch (error) {
    if (error instanceof StoreError && awayCodes.has(error.code)) throw error;
    return false;
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

const awayCodes: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'closed']);

async function open(store: Store, name: string, leaseMs: number): Promise<OwnSession> {
  const rules = store.dialect.leaderLock;
  if (rules === undefined) throw new StoreError('internal', 'this database has no lock for a leader');
  const client = clientOf(store.sql);
  const connection = await client.acquireRawConnection();
  // Errors of this connection say nothing about the pool, so no observer watches it.
  const db: Db = { sql: store.sql, dialect: store.dialect, connection, now: () => store.now() };
  const session = new OwnSession(db, rules, name);
  try {
    for (const setting of rules.session(leaseMs)) await change(db, setting);
  } catch (error) {
    await session.close();
    throw error;
  }
  return session;
}

class OwnSession implements LockSession {
  readonly db: Db;
  readonly #rules: LeaderLockRules;
  readonly #name: string;
  #isAsking = false;
  /** Rejects when the session is closed: not every driver answers what was asked on a connection that it cut. */
  readonly #closed = Promise.withResolvers<never>();

  constructor(db: Db, rules: LeaderLockRules, name: string) {
    this.db = db;
    this.#rules = rules;
    this.#name = name;
    this.#closed.promise.catch(() => {}); // The waiting question rejects with it.
  }

  waitForLock(): Promise<boolean> {
    return this.#asking(() => this.#rules.waitForLock(this.db, this.#name));
  }

  tryLock(): Promise<boolean> {
    return this.#asking(() => this.#rules.tryLock(this.db, this.#name));
  }

  async ping(): Promise<void> {
    await this.#asking(() => firstRow(this.db, 'select 1 as one'));
  }

  unlock(): Promise<void> {
    return this.#asking(() => this.#rules.unlock(this.db, this.#name));
  }

  async close(): Promise<void> {
    const { connection } = this.db;
    if (connection === undefined) return;
    this.#closed.reject(new StoreError('closed', 'the session of the lock is closed'));
    // A statement that waits in the server would hold up a farewell.
    if (this.#isAsking) this.#rules.cut(connection);
    else
      await clientOf(this.db.sql)
        .destroyRawConnection(connection)
        .catch(() => this.#rules.cut(connection));
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    this.#isAsking = true;
    try {
      const answer = ask();
      answer.catch(() => {}); // Told once, by whichever comes first.
      return await Promise.race([answer, this.#closed.promise]);
    } finally {
      this.#isAsking = false;
    }
  }
}
