import type { Instant } from '../instant.ts';

const longestMs = 10 * 60_000;
const longestAskedMs = 60 * 60_000;

/**
 * When a failed delivery is tried again: uniform between 1 s and min(10 min, 5 s x 2^attempts), never before the receiver's own
 * Retry-After, of which at most an hour is believed. `random` is in [0, 1).
 */
export function retryAt(now: Instant, attempts: number, retryAfterMs: number | undefined, random: number): Instant {
  const ceiling = Math.min(longestMs, 5_000 * 2 ** attempts);
  const wait = 1_000 + random * (ceiling - 1_000);
  const asked = Math.min(retryAfterMs ?? 0, longestAskedMs);
  return now + Math.ceil(Math.max(wait, asked));
}
