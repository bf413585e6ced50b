import { type Clock, type Logger, messageOf } from '@cronjob-monitor/shared/process';

import type { LeaderBeat } from '@cronjob-monitor/shared/store';

import { becomeLeader } from './candidate.ts';
import type { LeaderLock } from './leader-lock.ts';
import type { LeaseElection } from './lease.ts';

/** What the work of a leader gets to know of its term. */
export interface Term {
  /** The fence: every transaction of the leader names it. */
  readonly epoch: number;
  /** Aborted when the term is over by loss: all input and output of the leader hangs on it. */
  readonly signal: AbortSignal;
  /** Ends the term for this reason. Idempotent. */
  lose(why: string): void;
  /** The store refused a transaction with this term's epoch: another process took a later one. Idempotent. */
  fenced(): void;
}

/** Ends the work in order: no new work, what runs is finished, the last heartbeat written. */
export type StopWork = () => Promise<void>;

export interface TermsDeps {
  /** Undefined: one replica, no Lease. The epoch is taken all the same. */
  readonly election: LeaseElection | undefined;
  /** The lock of the database; undefined: the Lease alone decides. */
  readonly lock?: LeaderLock | undefined;
  /** The last beat of the replica that took the epoch last: asked where there is a lock. */
  readonly readBeat?: () => Promise<LeaderBeat | undefined>;
  /** Brings the schema up to date, under its lock. Repeated until it succeeds. */
  readonly prepare: (signal: AbortSignal) => Promise<void>;
  /** Raises the epoch and takes it; from then on no transaction of an earlier leader commits. Repeated until it succeeds. */
  readonly takeEpoch: (signal: AbortSignal) => Promise<number>;
  readonly startWork: (term: Term) => Promise<StopWork>;
  /** Of the process, which ends without coming back from it. */
  readonly exit: (code: number) => void;
  /** Trying again cannot help, such as a schema that is too new: the error ends the process. */
  readonly isHopeless?: (error: unknown) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** After a loss: for the aborted calls to end, and for the log to be written. The exit comes within a second. */
const exitAfterMs = 500;
const shortestRetryMs = 1_000;
const longestRetryMs = 30_000;

/**
 * The life of this replica as a candidate and as the leader: Lease won (or skipped), schema ready, epoch taken, work begun.
 *
 * There is one term in the life of a process. A lost one aborts all input and output by one signal and ends the process with
 * code 1, since half-stopped work is the hardest state to be right in. `stop` is the other end: the work ends first, renewed
 * meanwhile, and then the Lease is given back.
 */
export class Terms {
  readonly #deps: TermsDeps;
  readonly #random: () => number;
  /** Aborted by a loss. */
  readonly #lost = new AbortController();
  /** Aborted by `stop`: no more candidate. */
  readonly #candidate = new AbortController();
  /** Aborted when the Lease need not be renewed any more. */
  readonly #renewal = new AbortController();
  #holding: Promise<void> = Promise.resolve();
  #epoch: number | undefined;
  #stopWork: StopWork | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(deps: TermsDeps) {
    this.#deps = deps;
    this.#random = deps.random ?? Math.random;
  }

  /** The epoch with which this replica leads now; undefined while it does not. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  get isLeading(): boolean {
    return this.#epoch !== undefined && !this.#lost.signal.aborted;
  }

  /** Becomes a candidate. Resolves when it leads and its work has begun, or when it is stopped or loses before. */
  start(): Promise<void> {
    this.#running = this.#run();
    return this.#running;
  }

  /** The end of the term for bad: abort, and exit with code 1 within a second. */
  lose(why: string): void {
    if (this.#lost.signal.aborted) return;
    this.#deps.logger.error('the term as leader is over, the process ends', { why, epoch: this.#epoch });
    this.#lost.abort(new Error(`the term is over: ${why}`));
    this.#candidate.abort();
    void this.#exitSoon();
  }

  /** The end of the term because a fenced transaction was refused. */
  fenced(): void {
    this.lose('another process took the epoch');
  }

  /** Like `lose`, but the Lease is given back first, so that a healthy peer takes over at once. */
  async resign(why: string): Promise<void> {
    this.lose(why);
    await this.#release();
  }

  /** The end in order. Resolves when the work has ended and the Lease is given back. A second call joins the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#candidate.abort();
    await this.#running;
    if (!this.#lost.signal.aborted) await this.#stopWork?.();
    this.#epoch = undefined;
    await this.#release();
  }

  async #run(): Promise<void> {
    const { election, prepare, takeEpoch, startWork, logger } = this.#deps;
    const { signal } = this.#candidate;
    if (election) {
      if (!(await this.#acquire(election, signal))) return;
      logger.info('the Lease is ours');
      this.#holding = this.#hold(election);
    }
    const prepared = await this.#untilDone('the preparations have not succeeded', () => prepare(signal));
    if (!prepared) return;
    const taken = await this.#untilDone('the epoch cannot be taken', () => takeEpoch(signal));
    if (!taken || signal.aborted) return;

    this.#epoch = taken.value;
    logger.info('this replica leads', { epoch: taken.value });
    try {
      this.#stopWork = await startWork({
        epoch: taken.value,
        signal: this.#lost.signal,
        lose: (why) => this.lose(why),
        fenced: () => this.fenced(),
      });
    } catch (error) {
      logger.error('the work of the leader cannot begin', { error });
      this.lose('the work could not begin');
    }
  }

  #acquire(election: LeaseElection, signal: AbortSignal): Promise<boolean> {
    const { lock, readBeat, clock, logger } = this.#deps;
    if (!lock || !readBeat) return election.acquire(signal);
    return becomeLeader({ election, lock, readBeat, retryMs: election.retryMs, clock, logger }, signal);
  }

  async #hold(election: LeaseElection): Promise<void> {
    const how = await election.hold(this.#renewal.signal);
    if (how === 'taken') this.lose('another replica holds the Lease');
    if (how === 'deadlinePassed') this.lose('the Lease was not renewed in time');
  }

  async #release(): Promise<void> {
    this.#renewal.abort();
    await this.#holding;
    // Not the signal of the term: a release has a second of its own, whatever else was aborted.
    await this.#deps.election?.release(new AbortController().signal);
    // Last: who waits for it finds the Lease free.
    await this.#deps.lock?.stop();
  }

  /** A database that is away is no reason to end: it is waited for. Undefined when stopped, or lost, meanwhile. */
  async #untilDone<V>(problem: string, attempt: () => Promise<V>): Promise<{ readonly value: V } | undefined> {
    const { clock, logger, isHopeless } = this.#deps;
    const { signal } = this.#candidate;
    let waitMs = shortestRetryMs;
    for (let isTold = false; !signal.aborted; isTold = true) {
      try {
        return { value: await attempt() };
      } catch (error) {
        if (signal.aborted) return undefined;
        if (isHopeless?.(error)) {
          this.lose(`${problem}: ${messageOf(error)}`);
          return undefined;
        }
        if (!isTold) logger.error('this replica cannot lead yet', { problem, reason: messageOf(error) });
      }
      await clock.sleep(waitMs * (0.5 + this.#random() / 2), signal).catch(() => {});
      waitMs = Math.min(waitMs * 2, longestRetryMs);
    }
    return undefined;
  }

  async #exitSoon(): Promise<void> {
    await this.#deps.clock.sleep(exitAfterMs);
    this.#deps.exit(1);
  }
}
