import { type Clock, type Logger, messageOf } from '@cronjob-monitor/shared/process';

interface HeartbeatDeps {
  /** Writes this replica's row. May wait for the database as long as it likes: no second one is begun meanwhile. */
  readonly beat: (leading: boolean) => Promise<void>;
  readonly isLeading: () => boolean;
  /** Told of every failure: on a quiet day the heartbeat is the first to notice that the database is away. */
  readonly onFailure?: (error: unknown) => void;
  /** `/api/v1/health` trusts a row for one lease time: three are written in it. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The row by which the others know this replica: written at once, then every third of the lease time, and a last time
 * as not leading when it stops. A failing one is logged once until it works again.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #isFailing = false;
  #beating: Promise<void> = Promise.resolve();
  readonly #stopped = new AbortController();

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  start(signal: AbortSignal): void {
    if (signal.aborted) return;
    signal.addEventListener('abort', () => this.#stopped.abort(), { once: true });
    void this.beat();
    this.#deps.clock.every(this.#deps.leaseMs / 3, () => this.beat(), this.#stopped.signal);
  }

  /** Besides the regular ones: when the leadership changes, so that no other replica has to wait for it to be seen. */
  beat(): Promise<void> {
    return this.#inTurn(() => this.#deps.isLeading());
  }

  /** The last one: not leading. Resolves when it is written, or could not be. */
  stop(): Promise<void> {
    this.#stopped.abort();
    return this.#inTurn(() => false);
  }

  /** What a beat says is asked when its turn comes: the last one must not be overtaken by one that still says "leading". */
  #inTurn(leading: () => boolean): Promise<void> {
    this.#beating = this.#beating.then(() => this.#write(leading()));
    return this.#beating;
  }

  async #write(leading: boolean): Promise<void> {
    const { beat, logger } = this.#deps;
    try {
      await beat(leading);
      if (this.#isFailing) logger.info('the heartbeat is written again');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) logger.warn('the heartbeat cannot be written', { reason: messageOf(error) });
      this.#isFailing = true;
      this.#deps.onFailure?.(error);
    }
  }
}
