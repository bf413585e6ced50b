import type { Clock } from '../process/index.ts';

interface Sleeper {
  readonly wakesAtMs: number;
  readonly wake: () => void;
}

/**
 * Time that moves only when a test says so. `advance` moves both clocks and wakes what falls due on the way, in order, each
 * with the time it asked for; in between, everything that was waiting for a turn of the event loop gets it. `stepWall` moves
 * the wall clock alone, as a person or a time server does.
 */
export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 1_000;
  readonly #sleepers = new Set<Sleeper>();

  /** `startAt`: epoch milliseconds. */
  constructor(startAt: number = Date.UTC(2026, 10, 21, 7, 53)) {
    this.#wallMs = startAt;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** How many sleep now: nothing may be left at the end of what is tested. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = (settle: () => void) => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = () => end(() => reject(signal?.reason));
      const sleeper: Sleeper = { wakesAtMs: this.#monotonicMs + Math.max(0, ms), wake: () => end(resolve) };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  every(ms: number, fn: () => void | Promise<void>, signal: AbortSignal): void {
    const beat = async () => {
      for (let dueMs = this.#monotonicMs + ms; ; dueMs = nextBeat(dueMs, ms, this.#monotonicMs)) {
        await this.sleep(dueMs - this.#monotonicMs, signal);
        try {
          await fn();
        } catch {
          // As the real clock: one failure stops nothing. Who cares catches it in `fn`.
        }
      }
    };
    beat().catch(() => {}); // The signal ended it.
  }

  /** Resolves when everything that the passing of `ms` sets off has had its turns. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await settle();
    for (let next = this.#nextBefore(endMs); next; next = this.#nextBefore(endMs)) {
      this.#move(Math.max(0, next.wakesAtMs - this.#monotonicMs));
      next.wake();
      await settle();
    }
    this.#move(endMs - this.#monotonicMs);
  }

  /** Forward, or back with a negative number; the monotonic clock does not notice. */
  stepWall(ms: number): void {
    this.#wallMs += ms;
  }

  #nextBefore(endMs: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakesAtMs <= endMs && (!next || sleeper.wakesAtMs < next.wakesAtMs)) next = sleeper;
    }
    return next;
  }

  #move(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }
}

/** The first beat after now, as the real clock keeps it: a slow call leaves beats out and moves none. */
function nextBeat(dueMs: number, ms: number, nowMs: number): number {
  return dueMs + ms * (Math.floor((nowMs - dueMs) / ms) + 1);
}

/** Lets all that only waits for other code, and not for time or the network, run to where it waits again. */
export async function settle(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
