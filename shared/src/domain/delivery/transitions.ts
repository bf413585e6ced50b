import type { DeliveryState } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

/**
 * The states of a delivery.
 *
 * - `ready`: due at an instant. Entered as it is written, after back-off, when its channel is mended, by hand.
 * - `claimed`: one sender owns it for a while. Left by the answer of the receiver; an expired claim is claimed again.
 * - `parked`: its channel must be mended first.
 * - `sent`: the receiver accepted it. The end.
 * - `dead`: given up, for its time is over or the answer was final. A person may send it again.
 * - `cancelled`: not wanted any more. The end.
 * - `collapsed`: the twin of another monitor's delivery to the same channel; ready when that one is cancelled.
 * - `digested`: told inside a digest. The end.
 */
export type DeliveryEvent =
  | 'claim'
  /** The receiver accepted it. */
  | 'deliver'
  /** It failed and is tried again, or was put back without an attempt. */
  | 'retry'
  /** The channel must be mended. */
  | 'park'
  /** The channel is mended, or this one is the probe. */
  | 'mend'
  /** A final answer, or its time is over. */
  | 'giveUp'
  | 'cancel'
  /** Folded into a digest. */
  | 'digest'
  /** The one it was merged into is cancelled. */
  | 'promote'
  /** A person wants it sent again. */
  | 'redrive';

const table: Readonly<Record<DeliveryState, Partial<Readonly<Record<DeliveryEvent, DeliveryState>>>>> = {
  ready: {
    claim: 'claimed',
    park: 'parked',
    cancel: 'cancelled',
    digest: 'digested',
    giveUp: 'dead',
    redrive: 'ready',
    mend: 'ready',
  },
  claimed: {
    // The claim before it ran out.
    claim: 'claimed',
    deliver: 'sent',
    retry: 'ready',
    park: 'parked',
    giveUp: 'dead',
    cancel: 'cancelled',
    digest: 'digested',
    redrive: 'claimed',
  },
  parked: { mend: 'ready', redrive: 'ready', park: 'parked', cancel: 'cancelled', digest: 'digested', giveUp: 'dead' },
  dead: { redrive: 'ready' },
  collapsed: { promote: 'ready', cancel: 'cancelled' },
  sent: {},
  cancelled: {},
  digested: {},
};

/** The state after an event. Throws on a move that does not exist. */
export function nextDeliveryState(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  const next = table[state][event];
  if (next === undefined) throw new Error(`a ${state} delivery knows no ${event}`);
  return next;
}

/** The states from which an event leads somewhere: the condition of the update that moves rows by it. */
export function statesBefore(event: DeliveryEvent): readonly DeliveryState[] {
  return (Object.keys(table) as DeliveryState[]).filter((state) => table[state][event] !== undefined);
}

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
