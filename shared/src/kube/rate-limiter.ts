import type { Clock } from '../process/index.ts';

/** Lets calls pass at a rate, with a burst; first come, first served. */
export interface RateLimiter {
  /** Resolves when the caller may go on; rejects with the signal's reason when aborted before. */
  take(signal: AbortSignal): Promise<void>;
}

/** `perSecond` calls, up to `burst` of them at once after a pause. */
export function createRateLimiter(limits: { perSecond: number; burst: number }, clock: Clock): RateLimiter {
  const periodMs = 1000 / limits.perSecond;
  // The instant up to which all capacity is given away; it never lies further back than a full burst.
  let spentUntilMs = -Infinity;
  return {
    async take(signal) {
      signal.throwIfAborted();
      const nowMs = clock.monotonicMs();
      spentUntilMs = Math.max(spentUntilMs, nowMs - limits.burst * periodMs) + periodMs;
      if (spentUntilMs > nowMs) await clock.sleep(spentUntilMs - nowMs, signal);
    },
  };
}
