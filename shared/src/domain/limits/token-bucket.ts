import type { Instant } from '../instant.ts';
import { minuteMs } from '../duration.ts';

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
 * limit, undefined before the first message: a restart refills nothing.
 */
export function admit(tat: Instant | undefined, limit: RateLimit, now: Instant): Admission {
  const { periodMs, burst } = limit;
  const most = now + burst * periodMs;
  // A clock that was set back, or a limit that was made smaller, must not lock the limit for longer than a full burst.
  const stored = Math.min(tat ?? now, most);
  const next = Math.max(stored, now) + periodMs;
  const spendable = burst * periodMs;
  // Instants are whole milliseconds and periods need not be: a thousandth of one decides nothing.
  if (next <= now + spendable + 0.001) return { allowed: true, tat: Math.ceil(next) };
  return { allowed: false, earliestAt: Math.ceil(next - spendable) };
}

/**
 * What comes on top of a limit for critical messages alone, once it is used up: a fifth of its burst in a minute, at least one. Critical
 * messages that find the limit unused take from both, so that they alone never pass more than the burst. Undefined: a burst of one has
 * nothing on top.
 */
export function criticalReserve({ burst }: RateLimit): RateLimit | undefined {
  if (burst <= 1) return undefined;
  const reserve = Math.max(1, Math.floor(burst / 5));
  return { periodMs: minuteMs / reserve, burst: reserve };
}
