import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { LeaderBeat } from '@cronjob-monitor/shared/store';
import type { LeaderLock } from './leader-lock.ts';
import type { LeaseElection, LeaseSight } from './lease.ts';

interface CandidateDeps {
  readonly election: Pick<LeaseElection, 'acquire' | 'look' | 'take'>;
  readonly lock: Pick<LeaderLock, 'begin' | 'heldForMs' | 'whenHeld' | 'giveBack'>;
  /** The last beat of the replica that took the epoch last. Rejects while the database is away. */
  readonly readBeat: () => Promise<LeaderBeat | undefined>;
  /** Between two looks at the Lease without the lock. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the witnesses said when the lock came. */
interface FirstLook {
  readonly atMs: number;
  readonly lease: LeaseSight;
  readonly beat: LeaderBeat | undefined;
}

interface Look {
  readonly lease: LeaseSight | undefined;
  /** `unknown`: not asked for, or it could not be read. */
  readonly beat: LeaderBeat | undefined | 'unknown';
}

/**
 * Waits until this replica may lead by the two witnesses, lock and Lease; where the lock excludes no other session, by the Lease alone. Resolves with
 * true when the Lease is ours, with false when the signal aborts first. Never gives up.
 */
export async function becomeLeader(deps: CandidateDeps, signal: AbortSignal): Promise<boolean> {
  const { election, lock, clock, logger, retryMs } = deps;
  if (!(await lock.begin(signal))) return election.acquire(signal);
  let first: FirstLook | undefined;
  while (!signal.aborted) {
    const heldForMs = lock.heldForMs;
    const look = await lookAt(deps, heldForMs !== undefined, signal);
    // It may have gone meanwhile, and come anew: then what was seen before does not count.
    const hasLock = heldForMs !== undefined && (lock.heldForMs ?? -1) >= heldForMs;
    if (!hasLock) first = undefined;
    else if (look.lease && look.beat !== 'unknown')
      first ??= { atMs: clock.monotonicMs(), lease: look.lease, beat: look.beat };

    const seen = { ...compare(look, first), hasLock, watchedMs: first ? clock.monotonicMs() - first.atMs : 0 };
    const decision = decideTakeover(seen, witnessSilenceMs(retryMs));
    if (decision === 'take' && (await election.take(signal))) {
      if (seen.lease === 'held')
        logger.warn('the leader is silent, and its lock is free: its Lease is taken', { holder: look.lease?.holder });
      return true;
    }
    if (decision === 'giveBack') lock.giveBack();
    if (decision !== 'watch') first = undefined;
    if (decision === 'wait' || decision === 'giveBack') await untilLockOr(retryMs, deps, signal);
    else await clock.sleep(lookEveryMs, signal).catch(() => {}); // the end
  }
  return false;
}

async function lookAt(deps: CandidateDeps, hasLock: boolean, signal: AbortSignal): Promise<Look> {
  const reading = hasLock ? deps.readBeat().catch(() => 'unknown' as const) : ('unknown' as const);
  const [lease, beat] = await Promise.all([deps.election.look(signal), reading]);
  return { lease, beat };
}

function compare({ lease, beat }: Look, first: FirstLook | undefined): Pick<Witnesses, 'lease' | 'isRenewed' | 'beat'> {
  return {
    lease: lease?.state ?? 'unknown',
    isRenewed: lease !== undefined && first !== undefined && lease.sinceMs !== first.lease.sinceMs,
    beat: judgeBeat(beat, lease, first),
  };
}

function judgeBeat(beat: Look['beat'], lease: LeaseSight | undefined, first: FirstLook | undefined): Witnesses['beat'] {
  if (beat === 'unknown') return 'unknown';
  // Only of the holder of the Lease it says anything: another one has not taken the epoch yet, or never will.
  if (!beat?.isSteady || (lease !== undefined && beat.holder !== lease.holder)) return 'none';
  return first === undefined || first.beat?.beatAt === beat.beatAt ? 'silent' : 'came';
}

/** The lock may have come while the Lease was looked at: then it ends at once. */
async function untilLockOr(ms: number, { lock, clock }: CandidateDeps, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  await Promise.race([clock.sleep(ms, either).catch(() => {}), lock.whenHeld(either)]);
  over.abort();
}

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
const lookEveryMs = 500;
const shortestSilenceMs = 2_500;

/** For how long both witnesses must be silent: longer than a leader that is well ever is, which renews once in the retry period. */
export function witnessSilenceMs(retryMs: number): number {
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
