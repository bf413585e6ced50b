import type { AlertState } from '../../contract/index.ts';

/**
 * The states of an alert.
 *
 * - `pending`: it holds, alertDelay runs, it was not told. Entered at detection with a delay; left by a fresh verdict only.
 * - `suppressed`: it holds and a person muted it, by a window or a silence. Entered at detection or when the delay is over.
 * - `active`: it holds and is told. Entered at detection, when the delay is over, or when the mute ended.
 * - `cancelled`: it went away before it could be told. History.
 * - `resolved`: its condition cleared. History; live again when it returns soon enough.
 * - `expired`: it cannot be judged any more: its subject is gone. History; live again as `resolved`.
 *
 * A mute that begins over an active alert holds back messages and leaves it active.
 */
export type AlertEvent =
  /** The verdict holds. */
  | { readonly kind: 'holds'; readonly delayed: boolean; readonly muted: boolean }
  /** The verdict is quiet. */
  | { readonly kind: 'quiet' }
  /** CronJob, monitor or rule is gone. */
  | { readonly kind: 'gone' };

/** `none`: there is no row, or none that may live again. */
export type AlertStateOrNone = AlertState | 'none';

type Row = Readonly<Record<AlertEvent['kind'], (event: AlertEvent, wasTold: boolean) => AlertStateOrNone>>;

const born = (event: AlertEvent): AlertState => {
  if (event.kind !== 'holds') throw new Error('only a verdict that holds gives birth to an alert');
  if (event.delayed) return 'pending';
  return event.muted ? 'suppressed' : 'active';
};
const stays = (state: AlertStateOrNone) => (): AlertStateOrNone => state;
/** An alert that was live before has been told of: what ends it again is told as an end, not as a change of mind. */
const unsent = (_event: AlertEvent, wasTold: boolean): AlertState => (wasTold ? 'resolved' : 'cancelled');

const table: Readonly<Record<AlertStateOrNone, Row>> = {
  none: { holds: born, quiet: stays('none'), gone: stays('none') },
  pending: { holds: born, quiet: unsent, gone: unsent },
  suppressed: {
    holds: (event) => (event.kind === 'holds' && event.muted ? 'suppressed' : 'active'),
    quiet: unsent,
    gone: unsent,
  },
  active: { holds: stays('active'), quiet: stays('resolved'), gone: stays('expired') },
  resolved: { holds: born, quiet: stays('resolved'), gone: stays('resolved') },
  expired: { holds: born, quiet: stays('expired'), gone: stays('expired') },
  // What was never told is over for good: a return is a new alert.
  cancelled: { holds: born, quiet: stays('cancelled'), gone: stays('cancelled') },
};

/** The state after an event. `wasTold`: some message about this row went out in an earlier life of it. */
export function nextAlertState(state: AlertStateOrNone, event: AlertEvent, wasTold = false): AlertStateOrNone {
  return table[state][event.kind](event, wasTold);
}
