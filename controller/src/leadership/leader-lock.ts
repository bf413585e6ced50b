import { type Clock, type Logger, messageOf } from '@cronjob-monitor/shared/process';
import type { LockSession } from '@cronjob-monitor/shared/store';

interface LeaderLockDeps {
  /** Opens a session on which the lock is waited for. Rejects while the database is away. */
  readonly open: () => Promise<LockSession>;
  /** Whether the lock keeps a second session out. Rejects while the database is away. */
  readonly canExclude: () => Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A lock that is held is asked for so often: a session that ended is noticed, and the server does not end one that is idle. */
const pingEveryMs = 1_000;
/** After it was given back, so that the leader comes first; and after a session that failed. */
const pauseMs = 2_000;
const retryMs = 1_000;

/**
 * The lock of the database, wanted all the time: a candidate waits for it, a leader keeps it, and both ask again when their session ends.
 * A process that dies closes its socket, so that the next one has it at once; one that is paused keeps kernel, socket and lock.
 */
export class LeaderLock {
  readonly #deps: LeaderLockDeps;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #session: LockSession | undefined;
  #heldSinceMs: number | undefined;
  /** Aborted when the lock is to be given back. */
  #holding = new AbortController();
  #waiting: (() => void)[] = [];
  #isFailing = false;

  constructor(deps: LeaderLockDeps) {
    this.#deps = deps;
  }

  /** For how long it has been held; undefined: it is not. */
  get heldForMs(): number | undefined {
    return this.#heldSinceMs === undefined ? undefined : this.#deps.clock.monotonicMs() - this.#heldSinceMs;
  }

  /** Begins to want it. Resolves with false where it excludes no other session: then it is not wanted. Waits while the database is away. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { canExclude, clock, logger } = this.#deps;
    while (!signal.aborted && !this.#stopping.signal.aborted) {
      try {
        const isOfUse = await canExclude();
        if (!isOfUse)
          logger.warn('locks of this database keep no other session out: the Lease alone decides who leads');
        else this.#running ??= this.#run(this.#stopping.signal);
        return isOfUse;
      } catch (error) {
        this.#tell(error);
        await clock.sleep(retryMs, signal).catch(() => {}); // the end
      }
    }
    return false;
  }

  /** Resolves when it is held, or with the signal. */
  whenHeld(signal: AbortSignal): Promise<void> {
    if (this.#heldSinceMs !== undefined || signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    return promise;
  }

  /** For the one that leads: it is asked for again after 2 s. */
  giveBack(): void {
    this.#heldSinceMs = undefined;
    this.#holding.abort();
  }

  /** It is free when this resolves, and not wanted any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#holding.abort();
    await this.#session?.close();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { open, clock } = this.#deps;
    while (!signal.aborted) {
      try {
        this.#session = await open();
        await this.#use(this.#session, signal);
      } catch (error) {
        if (!signal.aborted) this.#tell(error);
      } finally {
        this.#heldSinceMs = undefined;
        await this.#session?.close();
        this.#session = undefined;
      }
      await clock.sleep(retryMs, signal).catch(() => {}); // the end
    }
  }

  async #use(session: LockSession, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    while (!signal.aborted) {
      if (!(await session.waitForLock())) continue;
      if (signal.aborted) return;
      if (this.#isFailing) logger.info('the lock of the leader can be asked for again');
      this.#isFailing = false;
      await this.#hold(session);
      if (signal.aborted) return;
      await session.unlock();
      await clock.sleep(pauseMs, signal).catch(() => {}); // the end
    }
  }

  async #hold(session: LockSession): Promise<void> {
    const { clock } = this.#deps;
    this.#holding = new AbortController();
    this.#heldSinceMs = clock.monotonicMs();
    for (const wake of this.#waiting.splice(0)) wake();
    const { signal } = this.#holding;
    while (!signal.aborted) {
      await clock.sleep(pingEveryMs, signal).catch(() => {}); // given back
      if (!signal.aborted) await session.ping();
    }
  }

  #tell(error: unknown): void {
    if (!this.#isFailing)
      this.#deps.logger.warn('the lock of the leader cannot be asked for', { reason: messageOf(error) });
    this.#isFailing = true;
  }
}
