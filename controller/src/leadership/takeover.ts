/** What a candidate knows of the leader, at one look. */
export interface Witnesses {
  /** This candidate has the lock of the database. */
  readonly hasLock: boolean;
  /** `free`: without a holder, or not there. `expired`: unchanged for its own duration. `unknown`: it could not be read. */
  readonly lease: 'free' | 'expired' | 'ours' | 'held' | 'unknown';
  /** The Lease changed since the lock came. */
  readonly isRenewed: boolean;
  /** Of the holder of the Lease, since the lock came. `none`: it writes no beat each second. `unknown`: it could not be read. */
  readonly beat: 'came' | 'silent' | 'none' | 'unknown';
  /** For how long both have been looked at with the lock, in ms. */
  readonly watchedMs: number;
}

/** `take`: write the Lease as ours. `watch`: look again in a moment. `giveBack`: the lock. `wait`: look again after the retry period. */
export type Decision = 'take' | 'watch' | 'giveBack' | 'wait';

/** Between two looks of a candidate that has the lock. */
export const lookEveryMs = 500;
const shortestSilenceMs = 2_500;

/** For how long both witnesses must be silent: longer than a leader that is well ever is, which renews once in the retry period. */
export function silenceMs(retryMs: number): number {
  return Math.max(shortestSilenceMs, 1.25 * retryMs);
}

/**
 * When a candidate tries to become the leader (high-availability.md section 2). Who may write is decided by the epoch alone: a wrong answer
 * here costs a change of leader, never a second writer.
 *
 * | lock | Lease | renewal | beat | |
 * |---|---|---|---|---|
 * | any | free, expired or ours | any | any | take: a paused candidate may have the lock |
 * | another's | held or unknown | any | any | wait |
 * | ours | held | came | any | give back: the session of the leader was cut, or the server restarted |
 * | ours | held or unknown | any | came | give back: the leader lives, and has lost its way to the API server |
 * | ours | held or unknown | any | none | give back: this holder can be judged by its Lease alone |
 * | ours | unknown | any | silent or unknown | watch: one witness says nothing |
 * | ours | held | silent | unknown | watch |
 * | ours | held | silent | silent, shorter than the silence | watch |
 * | ours | held | silent | silent, as long as the silence | take, although the Lease has not expired |
 */
export function decideTakeover(seen: Witnesses, silence: number): Decision {
  const { hasLock, lease, isRenewed, beat, watchedMs } = seen;
  if (lease === 'free' || lease === 'expired' || lease === 'ours') return 'take';
  if (!hasLock) return 'wait';
  if (isRenewed || beat === 'came' || beat === 'none') return 'giveBack';
  const areBothSilent = lease === 'held' && beat === 'silent';
  return areBothSilent && watchedMs >= silence ? 'take' : 'watch';
}
