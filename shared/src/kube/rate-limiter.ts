import type { Clock } from '../process/index.ts';

/** Lets calls pass at a rate, with a burst; first come, first served. */
export interface RateLimiter {
  /** Resolves when the caller may go on; rejects with the signal's reason when aborted before. */
  take(signal: AbortSignal): Promise<void>;
  /** The server asks to be left alone: nothing passes for so long, those that wait included. Then the rate holds, without a burst. */
  pause(ms: number): void;
}

/** `perSecond` calls, up to `burst` of them at once after a while without any. */
export function createRateLimiter(limits: { perSecond: number; burst: number }, clock: Clock): RateLimiter {
  const periodMs = 1000 / limits.perSecond;
  // The instant up to which all capacity is given away; it never lies further back than a full burst.
  let spentUntilMs = -Infinity;
  let pauses = 0;
  return {
    async take(signal) {
      for (let seen = -1; seen !== pauses;) {
        seen = pauses;
        signal.throwIfAborted();
        const nowMs = clock.monotonicMs();
        spentUntilMs = Math.max(spentUntilMs, nowMs - limits.burst * periodMs) + periodMs;
        // One that meets a pause while it waits takes its place anew.
        if (spentUntilMs > nowMs) await clock.sleep(spentUntilMs - nowMs, signal);
      }
    },
    pause(ms) {
      pauses++;
      spentUntilMs = clock.monotonicMs() + ms;
    },
  };
}
