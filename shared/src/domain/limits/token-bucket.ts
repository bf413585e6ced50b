import type { Instant } from '../instant.ts';

/** A limit of one message per `periodMs`, with up to `burst` at once. */
export interface RateLimit {
  readonly periodMs: number;
  readonly burst: number;
}

export type Admission =
  | { readonly allowed: true; /** To be stored in place of the old one. */ readonly tat: Instant }
  | {
      readonly allowed: false;
      /** The earliest instant at which one message more is allowed. */ readonly earliestAt: Instant;
    };

/**
 * Whether one message more is allowed now (GCRA, the "generic cell rate algorithm" of ITU-T I.371). `tat` is the one instant stored per
 * limit, undefined before the first message: a restart refills nothing. `reserve` messages of the burst are left for others.
 */
export function admit(tat: Instant | undefined, limit: RateLimit, now: Instant, reserve = 0): Admission {
  const { periodMs, burst } = limit;
  const most = now + burst * periodMs;
  // A clock that was set back, or a limit that was made smaller, must not lock the limit for longer than a full burst.
  const stored = Math.min(tat ?? now, most);
  const next = Math.max(stored, now) + periodMs;
  const spendable = Math.max(1, burst - reserve) * periodMs;
  // Instants are whole milliseconds and periods need not be: a thousandth of one decides nothing.
  if (next <= now + spendable + 0.001) return { allowed: true, tat: Math.ceil(next) };
  return { allowed: false, earliestAt: Math.ceil(next - spendable) };
}

/** What of a burst is kept for critical messages. */
export function criticalReserve(burst: number): number {
  return burst > 1 ? Math.max(1, Math.floor(burst / 5)) : 0;
}
