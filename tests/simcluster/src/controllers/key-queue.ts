import type { PendingCall, SimClock } from '../time/sim-clock.ts';

/** How long news of a write takes to reach a controller. */
const latencyMs = 3;
const firstRetryMs = 5;
const longestRetryMs = 1_000_000;

/** One turn that takes time: each value is how long the next part waits. */
export type Turn = Generator<number, void>;

/**
 * The work of one controller: keys that wait for their turn. A key added several times before its turn gets one turn, and
 * one more when it is added during its turn. One that waits for a later time keeps the earliest of its times, as the real
 * queue does.
 */
export class KeyQueue {
  readonly #clock: SimClock;
  readonly #sync: (key: string) => Turn | void;
  readonly #ready = new Set<string>();
  /** Keys whose turn is not over, and whether they were added meanwhile. */
  readonly #busy = new Map<string, boolean>();
  readonly #waiting = new Map<string, { at: number; call: PendingCall }>();
  readonly #failures = new Map<string, number>();

  constructor(clock: SimClock, sync: (key: string) => Turn | void) {
    this.#clock = clock;
    this.#sync = sync;
  }

  add(key: string): void {
    if (this.#busy.has(key)) {
      this.#busy.set(key, true);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#ready.add(key);
    this.#clock.callAt(this.#clock.now() + latencyMs, () => {
      this.#ready.delete(key);
      const turn = this.#sync(key);
      if (turn !== undefined) this.#go(key, turn);
    });
  }

  #go(key: string, turn: Turn): void {
    const { done, value } = turn.next();
    if (done === true) {
      const again = this.#busy.get(key);
      this.#busy.delete(key);
      if (again === true) this.add(key);
      return;
    }
    if (!this.#busy.has(key)) this.#busy.set(key, false);
    this.#clock.callAt(this.#clock.now() + value, () => this.#go(key, turn));
  }

  addAt(key: string, at: number): void {
    const known = this.#waiting.get(key);
    if (known !== undefined && known.at <= at) return;
    known?.call.cancel();
    const call = this.#clock.callAt(at, () => {
      this.#waiting.delete(key);
      this.add(key);
    });
    this.#waiting.set(key, { at, call });
  }

  addAfter(key: string, delayMs: number): void {
    this.addAt(key, this.#clock.now() + delayMs);
  }

  /** After a failure: each time twice as late as the time before. */
  retry(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(firstRetryMs * 2 ** failures, longestRetryMs));
  }

  /** Ends the row of failures. */
  succeeded(key: string): void {
    this.#failures.delete(key);
  }

  /** Drops what waits for a key that is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
    this.#waiting.get(key)?.call.cancel();
    this.#waiting.delete(key);
  }
}
