import type { Clock } from '@cronjob-monitor/shared/process';

export interface BackoffOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly firstMs?: number;
  readonly longestMs?: number;
  /** So long without a failure, and the next failure waits as the first one does. */
  readonly healthyAfterMs?: number;
}

/**
 * How long to wait after a failed call to the API server: a ceiling of 0.8 s that doubles to 30 s, of which a random part is
 * waited (full jitter, so that clients that failed together do not return together). It never gives up.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #healthyAfterMs: number;
  #ceilingMs: number;
  #healthySinceMs: number | undefined;

  constructor(options: BackoffOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#firstMs = options.firstMs ?? 800;
    this.#longestMs = options.longestMs ?? 30_000;
    this.#healthyAfterMs = options.healthyAfterMs ?? 120_000;
    this.#ceilingMs = this.#firstMs;
  }

  /** A call was answered. Health counts from the first answer after a failure. */
  healthy(): void {
    this.#healthySinceMs ??= this.#clock.monotonicMs();
  }

  /** A call failed: the milliseconds to wait before the next one. */
  failed(): number {
    const healthyForMs = this.#healthySinceMs === undefined ? 0 : this.#clock.monotonicMs() - this.#healthySinceMs;
    if (healthyForMs >= this.#healthyAfterMs) this.#ceilingMs = this.#firstMs;
    this.#healthySinceMs = undefined;
    const waitMs = Math.round(this.#random() * this.#ceilingMs);
    this.#ceilingMs = Math.min(this.#ceilingMs * 2, this.#longestMs);
    return waitMs;
  }
}
