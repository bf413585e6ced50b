import type { Clock } from '@cronjob-monitor/shared/process';

/** So old may a beat be with which a send begins. */
export const guardMs = 2_000;

/** Whether a leader may begin to send: the next one takes over its messages once its last beat is 2 s old. */
export interface SendGuard {
  isOpen(): boolean;
  /** Monotonic instant from which on no earlier leader begins a send. */
  readonly earlierEndMs: number;
  /** Resolves when it is open, or with the signal. */
  whenOpen(signal: AbortSignal): Promise<void>;
}

interface LeaderBeatDeps {
  /** Writes the beat under the epoch. Rejects when that failed. */
  readonly write: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** Monotonic instant at which a write under the epoch was sent that was acknowledged: the taking of the epoch itself. */
  readonly sentMs: number;
  /** Monotonic instant from which on no earlier leader begins a send. */
  readonly earlierEndMs: number;
  readonly everyMs: number;
  readonly clock: Clock;
}

/**
 * The beat of a leader, and the guard that follows from it. It counts from the moment at which a beat was *sent* that was acknowledged later:
 * at that moment no other leader could have taken the epoch.
 */
export class BeatGuard implements SendGuard {
  readonly #deps: LeaderBeatDeps;
  #sentMs: number;
  readonly #stopped = new AbortController();
  #beating: Promise<void> = Promise.resolve();
  #waiting: (() => void)[] = [];

  constructor(deps: LeaderBeatDeps) {
    this.#deps = deps;
    this.#sentMs = deps.sentMs;
  }

  get earlierEndMs(): number {
    return this.#deps.earlierEndMs;
  }

  start(signal: AbortSignal): void {
    const beat = () => (this.#beating = this.#beat());
    void beat();
    this.#deps.clock.every(this.#deps.everyMs, beat, AbortSignal.any([signal, this.#stopped.signal]));
  }

  /** Resolves when the last beat is written: after it another may take the epoch, and this one does not notice. */
  stop(): Promise<void> {
    this.#stopped.abort();
    return this.#beating;
  }

  isOpen(): boolean {
    return this.#deps.clock.monotonicMs() - this.#sentMs < guardMs;
  }

  whenOpen(signal: AbortSignal): Promise<void> {
    if (this.isOpen() || signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    return promise;
  }

  async #beat(): Promise<void> {
    const sentMs = this.#deps.clock.monotonicMs();
    try {
      await this.#deps.write();
    } catch (error) {
      this.#deps.onFailure(error);
      return;
    }
    this.#sentMs = sentMs;
    if (!this.isOpen()) return;
    for (const open of this.#waiting.splice(0)) open();
  }
}
