/**
 * The server's clock, ticking each second: "4 h ago" must be right also where the browser's clock is not. One timer for the page; it
 * rests while the page is hidden.
 */
class Now {
  #offsetMs = 0;
  #isSynced = false;
  #ms = $state(wholeSecond(Date.now()));

  /** Epoch milliseconds, a whole second; what reads it is drawn again as it ticks. */
  get ms(): number {
    return this.#ms;
  }

  /** The same clock at this very moment. Nothing is drawn again for it. */
  get preciseMs(): number {
    return Date.now() + this.#offsetMs;
  }

  /** For intervals: it never jumps, whatever happens to the clock. */
  get monotonicMs(): number {
    return performance.now();
  }

  /** The server's time, read from an answer that has just come. */
  sync(serverMs: number): void {
    const offset = serverMs - Date.now();
    // The Date header has whole seconds: small differences are no news.
    if (this.#isSynced && Math.abs(offset - this.#offsetMs) < 1_500) return;
    this.#isSynced = true;
    this.#offsetMs = Math.abs(offset) < 1_500 ? 0 : offset;
    this.#tick();
  }

  start(): () => void {
    const tick = (): void => {
      if (!document.hidden) this.#tick();
    };
    tick();
    const timer = setInterval(tick, 1_000);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }

  #tick(): void {
    this.#ms = wholeSecond(this.preciseMs);
  }
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

export const now = new Now();
