import type { Clock } from '@cronjob-monitor/shared/process';

export interface RetryDelayOptions {
  readonly clock: Clock;
  readonly firstMs?: number;
  readonly longestMs?: number;
  readonly bucketPerSecond?: number;
  readonly bucketSize?: number;
}

/**
 * How long a key waits after a failure: the longer of its own delay (5 ms, doubling to 1,000 s) and its turn in a bucket that
 * all keys share (10 a second, 100 at once), so that ten thousand failing keys do not come back together.
 */
export class RetryDelays<K> {
  readonly #clock: Clock;
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #tokenMs: number;
  readonly #bucketSize: number;
  readonly #failures = new Map<K, number>();
  /** Monotonic instant at which the bucket is full again; every retry moves it by one token. */
  #fullAtMs = 0;

  constructor(options: RetryDelayOptions) {
    this.#clock = options.clock;
    this.#firstMs = options.firstMs ?? 5;
    this.#longestMs = options.longestMs ?? 1_000_000;
    this.#tokenMs = 1000 / (options.bucketPerSecond ?? 10);
    this.#bucketSize = options.bucketSize ?? 100;
  }

  /** Counts one more failure of the key: the milliseconds to wait. */
  next(key: K): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    // The exponent is bounded, for 2 ** 1100 is Infinity and Infinity is no delay.
    const ownMs = Math.min(this.#firstMs * 2 ** Math.min(failures, 40), this.#longestMs);
    return Math.max(ownMs, this.#takeToken());
  }

  failuresOf(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key succeeded, or is given up. */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  #takeToken(): number {
    const now = this.#clock.monotonicMs();
    this.#fullAtMs = Math.max(this.#fullAtMs, now) + this.#tokenMs;
    return Math.max(0, this.#fullAtMs - now - this.#bucketSize * this.#tokenMs);
  }
}
