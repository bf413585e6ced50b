import type { Instant } from '../instant.ts';

const failuresToOpen = 5;
const firstProbeMs = 30_000;
const longestProbeMs = 600_000;
const parkedProbeMs = 900_000;
const invalidCheckMs = 60_000;

/** A channel that takes nothing for now, and when it is tried again. */
export interface ChannelHold {
  readonly hold: 'circuit' | 'parked' | 'invalid' | undefined;
  readonly untilAt: Instant | undefined;
  /** How often the circuit was probed in vain. */
  readonly step: number;
  readonly failuresInRow: number;
}

/** What an answer says about the channel. `harmless`: nothing was tried. */
export type ChannelAnswer = 'accepted' | 'failed' | 'park' | 'invalid' | 'harmless';

/**
 * The channel after an answer. Five failures in a row open its circuit: it is probed after 30 s, then after twice as long, up to ten
 * minutes. What a person must mend is probed every 15 minutes, what cannot even be tried is looked at every minute. A success
 * lifts any hold.
 */
export function channelAfter(before: ChannelHold, answer: ChannelAnswer, now: Instant): ChannelHold {
  if (answer === 'harmless') return before;
  if (answer === 'accepted') return { hold: undefined, untilAt: undefined, step: 0, failuresInRow: 0 };
  if (answer === 'invalid') {
    // Counted once as it begins: each look after it is no failure more.
    const failuresInRow = before.hold === 'invalid' ? before.failuresInRow : before.failuresInRow + 1;
    return { hold: 'invalid', untilAt: now + invalidCheckMs, step: 0, failuresInRow };
  }
  const failuresInRow = before.failuresInRow + 1;
  if (answer === 'park') return { hold: 'parked', untilAt: now + parkedProbeMs, step: 0, failuresInRow };
  if (before.hold === 'parked' || before.hold === 'invalid') {
    return { ...before, untilAt: now + parkedProbeMs, failuresInRow };
  }
  if (failuresInRow < failuresToOpen) return { ...before, failuresInRow };
  // What was on its way as the circuit opened is no probe, and says nothing that is not known.
  if (before.hold === 'circuit' && before.untilAt !== undefined && now < before.untilAt)
    return { ...before, failuresInRow };
  const waitMs = Math.min(longestProbeMs, firstProbeMs * 2 ** before.step);
  return { hold: 'circuit', untilAt: now + waitMs, step: before.step + 1, failuresInRow };
}
