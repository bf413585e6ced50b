import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { LeaderBeat } from '@cronjob-monitor/shared/store';

import type { LeaderLock } from './leader-lock.ts';
import type { LeaseElection, LeaseSight } from './lease.ts';
import { decideTakeover, lookEveryMs, silenceMs, type Witnesses } from './takeover.ts';

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
    const decision = decideTakeover(seen, silenceMs(retryMs));
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
